import type { CompactionLineage, StoredSummary } from '../../../client/types.ts';
import { formName } from '../turn/compaction-state.ts';
import { changeLines, lineageLines } from './lineage.ts';
import { formatCost, formatCount, formatDuration, plural } from '../text/numbers.ts';
import { safeLine, safeText } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { wrapWords } from '../text/text-width.ts';

const SHOWN_LINES = 12;

export interface SummaryListOptions {
  readonly columns: number | null;
  readonly style: Style;
  /** Whole texts, and every entry that is shown shorter. */
  readonly full: boolean;
  /** Of the same conversation; needed for `full` and `showLineage`. Default: none. */
  readonly lineage?: readonly CompactionLineage[];
  /** Which entries each summary covers. Default: false. */
  readonly showLineage?: boolean;
}

/** Each generation: what it covered and won, and the beginning of its text; sections that the preset folds as one line each. */
export function summaryListLines(summaries: readonly StoredSummary[], options: SummaryListOptions): string[] {
  // All but the heads is set in by three.
  const inner = { ...options, columns: options.columns === null ? null : options.columns - 3 };
  return summaries.flatMap((summary, index) => [...(index === 0 ? [] : ['']), ...summaryLines(summary, inner)]);
}

function summaryLines(summary: StoredSummary, options: SummaryListOptions): string[] {
  const { columns, style, full, lineage = [], showLineage = false } = options;
  const own = lineage.find(({ compactionId }) => compactionId === summary.compactionId);
  const details =
    own === undefined
      ? []
      : [...(showLineage ? lineageLines(own, lineage) : []), ...(full || showLineage ? changeLines(own) : [])];
  const { tokensBefore, tokensAfter, operations, coveredThroughSequence, entriesCovered, tries, model } = summary;
  const won = tokensBefore === 0 ? 0 : Math.round((1 - tokensAfter / tokensBefore) * 100);
  const facts = [
    `branch ${summary.branch}${summary.inForce ? ', in force' : ''}`,
    ...(coveredThroughSequence === null
      ? []
      : [`covers ${plural(entriesCovered, 'entry', 'entries')} through ${coveredThroughSequence}`]),
    ...(operations === 0 ? [] : [`${plural(operations, 'entry', 'entries')} shown shorter`]),
    `preset ${safeLine(summary.preset)}`,
    `trigger ${safeLine(summary.trigger)}`,
    ...(tries > 1 ? [`${tries} tries`] : []),
    ...(model === null ? [] : [safeLine(model)]),
    ...(summary.modelCalls === 0 ? [] : [`${plural(summary.modelCalls, 'call')}, ${formatCost(summary.cost)}`]),
    ...inputWords(summary),
    formatDuration(summary.durationMilliseconds),
    summary.createdAt,
  ];
  return [
    `${style.bold(`${summary.generation}. ${safeLine(formName(summary.form))}`)}  ${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens (−${won} %)  ${style.dim(summary.compactionId)}`,
    ...wrapWords(facts.join(' · '), columns).map((line) => style.dim(`   ${line}`)),
    ...details.map((line) => `   ${line}`),
    ...summaryTextLines(summary, options).map((line) => (line === '' ? '' : `   ${line}`)),
  ];
}

/** What was read for it, and what of that the provider had cached. */
function inputWords({ inputTokens, cacheReadTokens }: StoredSummary): string[] {
  if (inputTokens === 0) return [];
  const cached = Math.round((cacheReadTokens / inputTokens) * 100);
  return [`${formatCount(inputTokens)} tokens read, ${cached} % from the cache`];
}

function summaryTextLines(summary: StoredSummary, { columns, style, full }: SummaryListOptions): string[] {
  const { sections, text } = summary;
  if (full || text === null || !sections.some(({ open }) => open)) return textLines(text, columns, full);
  const shown: string[] = [];
  for (const section of sections) {
    const title = safeLine(section.title);
    if (section.open) shown.push(`▾ ${title}`, ...textLines(section.text, columns, false));
    else {
      const { length } = wrapWords(safeText(section.text).trim(), columns);
      shown.push(style.dim(`▸ ${title} (${plural(length, 'line')}, --full)`));
    }
  }
  return shown;
}

function textLines(text: string | null, columns: number | null, full: boolean): string[] {
  if (text === null) return [];
  const lines = wrapWords(safeText(text).trimEnd(), columns);
  if (full || lines.length <= SHOWN_LINES + 1) return lines;
  return [...lines.slice(0, SHOWN_LINES), `… ${plural(lines.length - SHOWN_LINES, 'more line')} (--full)`];
}
