import { countUncached } from '../core/token-counter.ts';

/** A line of a summary and how much it matters. */
export interface SummaryLine {
  readonly text: string;
  /** The higher, the later it is given up. */
  readonly worth: number;
  /** What takes its place before it is given up altogether. */
  readonly shorter?: string;
}

/** Lines of at most this worth go before any other line is shortened. */
const GIVEN_UP_FIRST = 50;

/**
 * Lines that fit: the least worth give way first, of equal worth the earlier ones; a line is replaced by its
 * shorter form before it goes. Headings have endless worth and stay.
 * @param limit tokens of all lines together
 */
export function fitLines(lines: readonly SummaryLine[], limit: number): readonly string[] {
  const sizes = lines.map((line) => countUncached(`${line.text}\n`));
  const shown: (string | undefined)[] = lines.map((line) => line.text);
  let total = sizes.reduce((sum, size) => sum + size, 0);
  const order = lines
    .map((line, index) => ({ worth: line.worth, index }))
    .sort((left, right) => left.worth - right.worth || left.index - right.index);
  for (const isLastRound of [false, true]) {
    for (const { index, worth } of order) {
      if (total <= limit) break;
      const line = lines[index];
      if (line === undefined || worth === Infinity || shown[index] === undefined) continue;
      if (!isLastRound && line.shorter === undefined && worth > GIVEN_UP_FIRST) continue;
      const replacement = isLastRound ? undefined : line.shorter;
      const size = replacement === undefined ? 0 : countUncached(`${replacement}\n`);
      total += size - (sizes[index] ?? 0);
      sizes[index] = size;
      shown[index] = replacement;
    }
  }
  return shown.filter((text) => text !== undefined);
}
