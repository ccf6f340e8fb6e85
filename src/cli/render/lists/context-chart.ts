import type { ContextReport } from '../../../client/types.ts';
import { drawBar, formatCount, formatPercent } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { padEnd, padStart, truncate } from '../text/text-width.ts';

const KINDS: readonly (readonly [keyof ContextReport, string])[] = [
  ['fixed', 'instructions, rules, tools'],
  ['summary', 'summary'],
  ['userMessages', 'user messages'],
  ['assistantMessages', 'assistant messages'],
  ['toolResults', 'tool results'],
  ['notes', 'notes'],
];

const LABEL_COLUMNS = 26;
/** Widest bars: a wider terminal gains nothing. */
const BAR_COLUMNS = 40;
const LEAST_BAR_COLUMNS = 8;
const PIPE_COLUMNS = 96;

/** What the next request would hold, by kind, against the numbers in force. */
export function contextChartLines(
  report: ContextReport,
  { columns, style }: { readonly columns: number | null; readonly style: Style },
): string[] {
  const width = columns ?? PIPE_COLUMNS;
  const numberColumns = Math.max(formatCount(report.inputBudget).length, formatCount(report.total).length);
  const room = width - LABEL_COLUMNS - numberColumns - 12;
  const bars = room < LEAST_BAR_COLUMNS ? 0 : Math.min(BAR_COLUMNS, room);
  const scale = Math.max(report.inputBudget, report.total, 1);
  const row = (label: string, tokens: number, color: (text: string) => string): string => {
    const { filled, empty } = drawBar(tokens / scale, bars);
    const bar = bars === 0 ? '' : `  ${color(filled)}${empty}`;
    return `${padEnd(truncate(label, LABEL_COLUMNS), LABEL_COLUMNS)}${bar}  ${padStart(formatCount(tokens), numberColumns)}  ${padStart(formatPercent(tokens, report.inputBudget), 5)}`;
  };
  const kinds = KINDS.flatMap(([name, label]) => {
    const tokens = report[name];
    return typeof tokens === 'number' ? [row(label, tokens, style.cyan)] : [];
  });
  const fill = report.total / report.inputBudget;
  const color = report.total > report.trigger ? style.red : fill > 0.6 ? style.yellow : style.green;
  return [
    `${style.bold(safeLine(report.model))} · preset ${safeLine(report.preset)}`,
    style.dim(`window ${formatCount(report.window)} tokens, of which ${formatCount(report.inputBudget)} for input`),
    style.dim(`compaction over ${formatCount(report.trigger)} tokens, down to ${formatCount(report.target)}`),
    '',
    ...kinds,
    style.dim('─'.repeat(Math.min(width, LABEL_COLUMNS + (bars === 0 ? 0 : bars + 2) + numberColumns + 9))),
    row('total', report.total, color),
    row('free', Math.max(0, report.inputBudget - report.total), style.dim),
  ];
}
