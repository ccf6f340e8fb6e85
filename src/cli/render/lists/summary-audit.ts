import type { SummaryAudit } from '../../../verify/audit/audit-summaries.ts';
import { formatCount, formatPercent, plural } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { truncate } from '../text/text-width.ts';

const PIPE_COLUMNS = 160;
/** Facts that are listed, unless all are wanted. */
const LISTED = 20;
const MARKS = '✓ found by recall, ✗ not found, ? not asked for';

/** What the window no longer says of what it does not show whole, and whether recall finds it. */
export function summaryAuditLines(
  audit: SummaryAudit,
  { columns, style, full }: { readonly columns: number | null; readonly style: Style; readonly full: boolean },
): string[] {
  const { facts, carried, missing, droppedEntries, shortenedEntries } = audit;
  if (droppedEntries + shortenedEntries === 0) return ['The window still holds every entry as it was.'];
  const shown = full ? missing : firstOf(missing);
  return [
    `${plural(droppedEntries, 'entry', 'entries')} left the window, ${plural(shortenedEntries, 'entry', 'entries')} shown shorter; their originals say ${plural(facts, 'fact')}: requirements, paths, identifiers, numbers, errors.`,
    ...(audit.compactionId === null ? [] : [`${style.bold('in the summary')}       ${share(carried, facts)}`]),
    `${style.bold('shown in the window')}  ${share(audit.shown, facts)}`,
    `${style.bold('by recall only')}       ${byRecall(audit)}`,
    ...(shown.length === 0 ? [] : ['', `Facts that the window no longer says (${MARKS}):`]),
    ...shown.map(({ kind, text, sequence, found: isFound }) => {
      const mark = isFound === null ? '?' : isFound ? '✓' : '✗';
      return truncate(
        `  ${mark} ${String(sequence).padStart(6)}  ${kind.padEnd(11)}  ${safeLine(text)}`,
        columns ?? PIPE_COLUMNS,
      );
    }),
    ...notListed(missing.length - shown.length, audit, style),
  ];
}

/** Those that recall does not find above all, then those that it finds, then those that it was not asked for; in order of appearance. */
function firstOf(missing: SummaryAudit['missing']): SummaryAudit['missing'] {
  const chosen = [false, true, null]
    .flatMap((found) => missing.filter((fact) => fact.found === found))
    .slice(0, LISTED);
  const isChosen = new Set(chosen);
  return missing.filter((fact) => isChosen.has(fact));
}

function notListed(count: number, { missing, askedFor }: SummaryAudit, style: Style): string[] {
  const hints = [
    ...(count > 0 ? [`${formatCount(count)} more: --full lists all of them`] : []),
    ...(askedFor < missing.length ? ['--limit <number> has recall asked for more of them'] : []),
  ];
  return hints.length === 0 ? [] : ['', ...hints.map(style.dim)];
}

function share(count: number, of: number): string {
  return of === 0 ? 'none' : `${formatCount(count)} (${formatPercent(count, of)})`;
}

/** A share of nothing says nothing. */
function byRecall({ missing, askedFor, found }: SummaryAudit): string {
  if (missing.length === 0) return 'none';
  const count = formatCount(missing.length);
  if (askedFor === 0) return `${count}, none of which was searched for`;
  const searched = askedFor === missing.length ? '' : `${formatCount(askedFor)} of them searched for, `;
  return `${count}; ${searched}${formatCount(found)} found (${formatPercent(found, askedFor)})`;
}
