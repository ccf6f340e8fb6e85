import { printable } from '../render/text/safe-text.ts';
import { displayWidth } from '../render/text/text-width.ts';
import { withoutStyle } from '../render/text/style.ts';
import type { Output } from '../output.ts';

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
/** Terminals that know it show a frame only when it is complete; others ignore it. */
const BEGIN_FRAME = '\u001b[?2026h';
const END_FRAME = '\u001b[?2026l';
const CLEAR_BELOW = '\u001b[J';

/** Lines above that stay, and a region below them that is painted over. */
export interface Painter {
  /** Prints lines for good above the region. */
  commit(lines: readonly string[]): void;
  /** Replaces the region. Each line must fit one row. */
  paint(region: readonly string[]): void;
  /** Removes the region and gives the cursor back. */
  close(): void;
}

export function createPainter(output: Pick<Output, 'write' | 'columns'>): Painter {
  let region: readonly string[] = [];
  let begun = false;
  const toRegionStart = (): string => {
    if (region.length === 0) return '\r';
    // After a resize the terminal has broken the painted lines anew.
    const columns = output.columns ?? 80;
    const rows = region.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(displayWidth(withoutStyle(line)) / columns)),
      0,
    );
    return rows > 1 ? `\r\u001b[${rows - 1}A` : '\r';
  };
  const draw = (committed: readonly string[], next: readonly string[]): void => {
    const start = begun ? '' : HIDE_CURSOR;
    begun = true;
    const above = printable(committed.map((line) => `${line}\n`).join(''));
    output.write(
      `${BEGIN_FRAME}${start}${toRegionStart()}${CLEAR_BELOW}${above}${printable(next.join('\n'))}${END_FRAME}`,
    );
    region = next;
  };
  return {
    commit: (lines) => draw(lines, region),
    paint(next) {
      if (next.length !== region.length || next.some((line, row) => line !== region[row])) draw([], next);
    },
    close() {
      if (!begun) return;
      draw([], []);
      output.write(SHOW_CURSOR);
    },
  };
}
