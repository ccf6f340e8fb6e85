import { interruptible } from '../interruption.ts';
import type { Output } from '../output.ts';
import { itemLines, squeezeEmpty } from '../render/turn/item-lines.ts';
import type { LineOptions } from '../render/turn/item-lines.ts';
import type { TurnItem } from '../render/turn/turn-items.ts';
import { quietWarning, screenLines } from '../render/turn/turn-screen.ts';
import type { TurnScreenState } from '../render/turn/turn-state.ts';
import { createPainter } from './painter.ts';

export interface Display {
  /** Whether text is shown while it is written. */
  readonly liveText: boolean;
  /** What is new for good, and how things stand. */
  show(state: TurnScreenState, items: readonly TurnItem[]): void;
  close(): void;
}

/** Fast enough for a spinner and for reading along. */
const REPAINT_MILLISECONDS = 100;
const QUIET_CHECK_MILLISECONDS = 1_000;

/** A screen on a terminal, lines in a pipe. */
export function openDisplay(output: Output, hint: () => string): Display {
  return output.repaints ? openScreen(output, hint) : openLines(output);
}

/** Shows nothing, for `--json`. */
export const NO_DISPLAY: Display = { liveText: false, show: () => undefined, close: () => undefined };

/** Shows what goes on while `work` lasts. @returns `null` when the user left, and `work` did not end soon */
export async function showWhile<Result>(
  display: Display,
  work: (display: Display, signal: AbortSignal) => Promise<Result>,
): Promise<Result | null> {
  const { result } = await interruptible(async (signal) => {
    try {
      return await work(display, signal);
    } finally {
      display.close();
    }
  });
  return result;
}

/** Lines of items that follow each other, with one empty line where several would meet. */
function createItemLines(): (items: readonly TurnItem[], options: LineOptions) => string[] {
  let afterEmpty = false;
  return (items, options) => {
    const lines = squeezeEmpty(
      items.flatMap((item) => itemLines(item, options)),
      afterEmpty,
    );
    afterEmpty = lines.length === 0 ? afterEmpty : lines.at(-1) === '';
    return lines;
  };
}

function openScreen(output: Output, hint: () => string): Display {
  const painter = createPainter(output);
  const linesOf = createItemLines();
  let current: TurnScreenState | null = null;
  const paint = (): void => {
    if (current === null) return;
    const size = { columns: output.columns ?? 80, rows: output.rows };
    painter.paint(screenLines(current, { ...size, style: output.style, now: Date.now(), hint: hint() }));
  };
  const timer = setInterval(paint, REPAINT_MILLISECONDS);
  // A process that ends without close must not leave the terminal without a cursor.
  const restore = (): void => painter.close();
  process.once('exit', restore);
  return {
    liveText: true,
    show(state, items) {
      current = state;
      const lines = linesOf(items, { columns: output.columns, style: output.style });
      if (lines.length > 0) painter.commit(lines);
    },
    close() {
      clearInterval(timer);
      process.off('exit', restore);
      painter.close();
    },
  };
}

function openLines(output: Output): Display {
  const linesOf = createItemLines();
  let current: TurnScreenState | null = null;
  let warned = false;
  const timer = setInterval(() => {
    const warning = current === null ? null : quietWarning(current, Date.now());
    if (warning !== null && !warned) output.remark(`! ${warning}`);
    warned = warning !== null;
  }, QUIET_CHECK_MILLISECONDS);
  return {
    liveText: false,
    show(state, items) {
      current = state;
      output.lines(linesOf(items, { columns: null, style: output.style }));
    },
    close: () => clearInterval(timer),
  };
}
