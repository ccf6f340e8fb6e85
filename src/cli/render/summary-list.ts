import type { StoredSummary } from '../../client/types.ts';
import { formName } from './compaction-state.ts';
import { formatCount, formatDuration, plural } from './numbers.ts';
import { safeLine, safeText } from './safe-text.ts';
import type { Style } from './style.ts';
import { wrapWords } from './text-width.ts';

const SHOWN_LINES = 12;

/** Each generation: what it covered and won, and the beginning of its text. @param options.full the whole text */
export function summaryListLines(
  summaries: readonly StoredSummary[],
  options: { readonly columns: number | null; readonly style: Style; readonly full: boolean },
): string[] {
  return summaries.flatMap((summary, index) => [...(index === 0 ? [] : ['']), ...summaryLines(summary, options)]);
}

function summaryLines(
  summary: StoredSummary,
  { columns, style, full }: { readonly columns: number | null; readonly style: Style; readonly full: boolean },
): string[] {
  const { tokensBefore, tokensAfter, operations, coveredThroughSequence } = summary;
  const won = tokensBefore === 0 ? 0 : Math.round((1 - tokensAfter / tokensBefore) * 100);
  const facts = [
    ...(coveredThroughSequence === null ? [] : [`covers entries through ${coveredThroughSequence}`]),
    ...(operations === 0 ? [] : [`${plural(operations, 'entry', 'entries')} shown shorter`]),
    `preset ${safeLine(summary.preset)}`,
    `trigger ${safeLine(summary.trigger)}`,
    formatDuration(summary.durationMilliseconds),
    summary.createdAt,
  ];
  return [
    `${style.bold(`${summary.generation}. ${safeLine(formName(summary.form))}`)}  ${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens (−${won} %)  ${style.dim(summary.compactionId)}`,
    ...wrapped(facts.join(' · '), columns).map((line) => style.dim(`   ${line}`)),
    ...textLines(summary.text, columns, full).map((line) => (line === '' ? '' : `   ${line}`)),
  ];
}

function textLines(text: string | null, columns: number | null, full: boolean): string[] {
  if (text === null) return [];
  const lines = wrapped(safeText(text).trimEnd(), columns);
  if (full || lines.length <= SHOWN_LINES + 1) return lines;
  return [...lines.slice(0, SHOWN_LINES), `… ${plural(lines.length - SHOWN_LINES, 'more line')} (--full)`];
}

function wrapped(text: string, columns: number | null): string[] {
  return columns === null ? text.split('\n') : wrapWords(text, Math.max(1, columns - 3));
}
