import type { EntryOutline } from './entry.ts';

/** Outlines, oldest first, in which planning names an entry by its position. */
export class OutlineTable {
  readonly #outlines: readonly EntryOutline[];

  constructor(outlines: readonly EntryOutline[]) {
    this.#outlines = outlines;
  }

  get length(): number {
    return this.#outlines.length;
  }

  /** @throws RangeError where no entry has the position */
  at(position: number): EntryOutline {
    const outline = this.#outlines[position];
    if (outline === undefined) throw new RangeError(`no entry at ${position} of ${this.length}`);
    return outline;
  }

  /** Position of the first entry from `sequence` on; the length when there is none. */
  firstFrom(sequence: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle).sequence < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
