import type { StoredSummary, SummaryDifference } from '../../../client/types.ts';
import { formatCount } from '../text/numbers.ts';
import { safeText } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';

/** Unchanged lines that are shown around a change. */
const AROUND = 2;

/** Lines that a summary took over, lost and gained. @param options.full all lines that are equal too */
export function summaryDifferenceLines(
  { older, newer, changes }: SummaryDifference,
  { style, full }: { readonly style: Style; readonly full: boolean },
): string[] {
  const covered = `${older.coveredThroughSequence ?? 0} → ${newer.coveredThroughSequence ?? 0}`;
  const tokens = `${formatCount(newer.tokensBefore)} → ${formatCount(newer.tokensAfter)} tokens`;
  return [
    `${style.bold(`generation ${older.generation} → ${newer.generation}`)}  ${style.dim(branches(older, newer))}`,
    style.dim(`covers entries through ${covered}; ${tokens}`),
    ...changes.flatMap((change) => changeLines(change, style, full)),
  ];
}

function branches(older: StoredSummary, newer: StoredSummary): string {
  if (older.branch === newer.branch) return `branch ${newer.branch}`;
  return `made on branches ${older.branch} and ${newer.branch}`;
}

function changeLines({ kind, text }: SummaryDifference['changes'][number], style: Style, full: boolean): string[] {
  const lines = safeText(text).split('\n');
  if (kind === 'added') return lines.map((line) => style.green(`+ ${line}`));
  if (kind === 'removed') return lines.map((line) => style.red(`- ${line}`));
  const equal = lines.map((line) => `  ${line}`);
  if (full || equal.length <= AROUND * 2 + 1) return equal;
  const hidden = style.dim(`  … ${equal.length - AROUND * 2} equal lines`);
  return equal.slice(0, AROUND).concat(hidden, equal.slice(-AROUND));
}
