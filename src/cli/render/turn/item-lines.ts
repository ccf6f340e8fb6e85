import { compactionBegunLines, compactionDoneLines } from './compaction-card.ts';
import { formatBytes, formatDuration, plural } from '../text/numbers.ts';
import { safeLine, safeText } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { displayWidth, padStart, truncate, wrapWords } from '../text/text-width.ts';
import { shortArguments } from './tool-arguments.ts';
import type { FinishedTool, TurnItem } from './turn-items.ts';

export interface LineOptions {
  /** Columns of the terminal; `null` in a pipe, where lines may have any length. */
  readonly columns: number | null;
  readonly style: Style;
}

/** The lines that show an item for good. On a terminal each fits one row. */
export function itemLines(item: TurnItem, options: LineOptions): string[] {
  const { style, columns } = options;
  switch (item.kind) {
    case 'turn_begun': {
      const who = [`agent ${item.agent}`, item.model, `preset ${item.preset}`];
      return [style.dim(fit(`● turn begins: ${who.map(safeLine).join(', ')}`, columns))];
    }
    case 'user':
      return ['', ...messageLines(item.text, options), ''];
    case 'answer':
      return ['', ...wrapWords(safeText(item.text), columns)];
    case 'tool':
      return toolLines(item, options);
    case 'compaction_begun':
      return compactionBegunLines(item.plan, options);
    case 'compaction_done':
      return compactionDoneLines(item.done, options);
    case 'notice': {
      const mark = item.level === 'warning' ? '!' : '·';
      const color = item.level === 'warning' ? style.yellow : style.dim;
      return wrapWords(`${mark} ${safeLine(item.text)}`, columns).map(color);
    }
  }
}

const MARKS: Record<FinishedTool['outcome'], string> = {
  succeeded: '✓',
  failed: '✗',
  outcome_unknown: '?',
  not_run: '–',
};

/** Columns that arguments need to tell anything; in a narrower terminal the figures go first. */
const LEAST_ARGUMENT_COLUMNS = 12;
const PIPE_COLUMNS = 160;

function toolLines(tool: FinishedTool, { columns, style }: LineOptions): string[] {
  const width = columns ?? PIPE_COLUMNS;
  const color = tool.outcome === 'succeeded' ? style.green : tool.outcome === 'failed' ? style.red : style.yellow;
  const name = safeLine(tool.name);
  const size = tool.bytes === null ? '' : formatBytes(tool.bytes);
  const duration = tool.durationMilliseconds === null ? '' : formatDuration(tool.durationMilliseconds);
  const figures =
    columns === null
      ? [size, duration].filter((part) => part !== '').join('  ')
      : `${padStart(size, 9)}  ${padStart(duration, 7)}`;
  const room = width - displayWidth(name) - 5 - displayWidth(figures) - 2;
  const shown = tool.arguments === null ? '' : shortArguments(tool.arguments, Math.max(room, LEAST_ARGUMENT_COLUMNS));
  const words = `${color(MARKS[tool.outcome])} ${style.bold(name)} ${shown}`;
  const line =
    columns === null
      ? `  ${words}  ${figures}`.trimEnd()
      : room < LEAST_ARGUMENT_COLUMNS
        ? `  ${color(MARKS[tool.outcome])} ${truncate(`${name} ${shown}`.trim(), Math.max(1, width - 4))}`
        : `  ${words}${' '.repeat(Math.max(0, room - displayWidth(shown)))}  ${style.dim(figures)}`;
  return [line, ...failureLines(tool, Math.max(8, width - 4)).map((words) => `    ${color(words)}`)];
}

function failureLines({ outcome, failure }: FinishedTool, columns: number): string[] {
  if (failure === null) return [];
  const words = safeLine(failure);
  // Whole, because it ends with what to do, and without the output that may follow; it names its outcome itself.
  if (outcome === 'outcome_unknown') return wrapWords(safeLine(failure.split('\n\n', 1).join()), columns);
  return [truncate(outcome === 'failed' ? words : `${outcome.replaceAll('_', ' ')}: ${words}`, columns)];
}

/** At most of a user's message: it is known to who wrote it. */
const MESSAGE_LINES = 12;

function messageLines(text: string, { columns, style }: LineOptions): string[] {
  const lines = wrapWords(safeText(text).trim(), columns === null ? null : columns - 2);
  const rest = lines.length - MESSAGE_LINES;
  const shown = rest > 1 ? [...lines.slice(0, MESSAGE_LINES), `… ${plural(rest, 'more line')}`] : lines;
  return shown.map((line, position) => `${position === 0 ? style.cyan('> ') : '  '}${line}`);
}

/** Lines without two empty ones in a row. @param afterEmpty whether the line before them is empty */
export function squeezeEmpty(lines: readonly string[], afterEmpty: boolean): string[] {
  return lines.filter((line, position) => line !== '' || !(position === 0 ? afterEmpty : lines[position - 1] === ''));
}

function fit(text: string, columns: number | null): string {
  return columns === null ? text : truncate(text, columns);
}
