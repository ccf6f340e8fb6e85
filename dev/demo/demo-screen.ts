import { itemLines } from '../../src/cli/render/turn/item-lines.ts';
import { runningCompactionLines } from '../../src/cli/render/turn/compaction-card.ts';
import { drawBar, formatCount, formatDuration, formatPercent, plural } from '../../src/cli/render/text/numbers.ts';
import { safeLine } from '../../src/cli/render/text/safe-text.ts';
import type { Style } from '../../src/cli/render/text/style.ts';
import { displayWidth, truncate } from '../../src/cli/render/text/text-width.ts';
import type { DemoItem, DemoProgress } from './progress.ts';

export interface DemoLineOptions {
  /** Columns of the terminal; `null` in a pipe. */
  readonly columns: number | null;
  readonly style: Style;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The lines that show for good what happened; in a pipe each begins with the time since the start. */
export function demoItemLines(item: DemoItem, progress: DemoProgress, options: DemoLineOptions): string[] {
  const { columns, style, now } = options;
  const lines = linesOf(item, progress, options);
  if (columns !== null) return lines.map((line) => truncate(line, Math.max(columns * 2, 1)));
  const time = `${((now - progress.startedAt) / 1_000).toFixed(1).padStart(6)} s`;
  return lines.map((line) => `${style.dim(time)}  ${line.trim()}`);
}

function linesOf(item: DemoItem, progress: DemoProgress, { columns, style }: DemoLineOptions): string[] {
  switch (item.kind) {
    case 'turn':
      return itemLines(item.item, { columns, style }).map((line) => (item.item.kind === 'notice' ? `  ${line}` : line));
    case 'killed':
      return [
        style.red(
          `  ✗ kill ${item.number}: SIGKILL of worker ${item.kill.processId}, ${item.kill.words} (${item.kill.crashPoint})`,
        ),
      ];
    case 'taken_over': {
      const { milliseconds, activity } = item.takeover;
      const worker = item.workerProcessId === null ? 'another worker' : `worker ${item.workerProcessId}`;
      return [
        style.green(
          `  ✓ takeover ${item.number}: ${worker} goes on with ${activity} after ${formatDuration(milliseconds ?? 0)}`,
        ),
      ];
    }
    case 'files':
      return columns === null
        ? [`${item.count} of ${plural(progress.files.size, 'file')} read, ${windowWords(progress)}`]
        : [];
  }
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MILLISECONDS = 100;
const LABEL_COLUMNS = 10;
const WIDEST_BAR = 40;

/** The part of the screen that is repainted: a running compaction, the two bars, and what goes on. */
export function demoRegion(progress: DemoProgress, options: DemoLineOptions & { readonly columns: number }): string[] {
  const { columns, style, now } = options;
  const { turn, filesRead, files, window } = progress;
  const tokens = turn.tokens ?? 0;
  const fill = tokens / window;
  const windowColor = fill < 0.6 ? style.green : fill < 0.85 ? style.yellow : style.red;
  const words = [`${filesRead.size} of ${files.size} files`, windowWords(progress)];
  const room = columns - LABEL_COLUMNS - 4 - Math.max(...words.map((text) => displayWidth(text)));
  const barColumns = Math.min(WIDEST_BAR, room);
  const bar = (label: string, fraction: number, color: (text: string) => string, text: string): string => {
    if (barColumns < 5) return truncate(`  ${text}`, columns);
    const { filled, empty } = drawBar(fraction, barColumns);
    return `  ${label.padEnd(LABEL_COLUMNS - 2)}${style.dim('▕')}${color(filled)}${empty}${style.dim('▏')} ${text}`;
  };
  return [
    ...(turn.compaction === null ? [] : runningCompactionLines(turn.compaction, now, columns, style)),
    '',
    bar('files', filesRead.size / Math.max(1, files.size), style.cyan, words[0] ?? ''),
    bar('window', fill, windowColor, words[1] ?? ''),
    truncate(statusWords(progress, now), columns),
  ];
}

function windowWords({ turn, window }: DemoProgress): string {
  const tokens = turn.tokens ?? 0;
  return `${formatCount(tokens)} of ${formatCount(window)} tokens (${formatPercent(tokens, window)})`;
}

function statusWords(progress: DemoProgress, now: number): string {
  const { turn, compactions, startedAt } = progress;
  const spinner = SPINNER[Math.floor(now / FRAME_MILLISECONDS) % SPINNER.length] ?? '';
  const parts = [
    formatDuration(now - startedAt),
    plural(turn.steps, 'step'),
    plural(compactions, 'compaction'),
    doing(progress),
  ];
  return `  ${spinner} ${parts.join(' · ')}`;
}

function doing({ turn, newestPath, takeovers, workerProcessId }: DemoProgress): string {
  const last = takeovers.at(-1);
  if (last !== undefined && last.milliseconds === null) {
    return workerProcessId === null ? 'another worker starts' : 'Temporal notices that the worker is gone';
  }
  if (turn.compaction !== null) return 'compacting';
  const [tool] = turn.tools;
  const path = newestPath === null ? '' : ` ${safeLine(newestPath)}`;
  return tool === undefined ? `reading${path}` : `${safeLine(tool.reference.name)}${path}`;
}
