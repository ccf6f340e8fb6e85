import type { GatheredPassage } from './gather.ts';

/** How many times as many as are wanted are kept before the worst are thrown away: the more, the seldomer are they sorted. */
const KEPT_TIMES = 4;

/**
 * Keeps the best of many without sorting all. In arrays of numbers: an object for each, and each of its numbers that a
 * comparison reads, would make half of the garbage of a search.
 */
export class BestPassages {
  readonly #count: number;
  readonly #scores: Float64Array;
  readonly #ids: Float64Array;
  #kept = 0;
  /** What is below it is not among the best. */
  least = 0;

  constructor(count: number) {
    this.#count = count;
    this.#scores = new Float64Array(KEPT_TIMES * count);
    this.#ids = new Float64Array(KEPT_TIMES * count);
  }

  add(id: number, score: number): void {
    if (this.#kept === this.#scores.length) this.#dropWorst();
    this.#scores[this.#kept] = score;
    this.#ids[this.#kept] = id;
    this.#kept += 1;
  }

  /** Best first; of equals the newer one. */
  list(): GatheredPassage[] {
    if (this.#kept > this.#count) this.#dropWorst();
    const places = Array.from({ length: this.#kept }, (_, place) => place);
    return places
      .toSorted((one, other) => this.#compare(one, other))
      .map((place) => ({ id: this.#ids[place] ?? 0, score: this.#scores[place] ?? 0 }));
  }

  #compare(one: number, other: number): number {
    const [a, b] = [this.#scores[one] ?? 0, this.#scores[other] ?? 0];
    if (a !== b) return a < b ? 1 : -1;
    return (this.#ids[one] ?? 0) < (this.#ids[other] ?? 0) ? 1 : -1;
  }

  #dropWorst(): void {
    const scores = this.#scores.slice(0, this.#kept).sort();
    const least = scores[this.#kept - this.#count] ?? 0;
    const above = this.#kept - 1 - scores.lastIndexOf(least);
    const oldest = this.#oldestOf(least, this.#count - above);
    let kept = 0;
    for (let place = 0; place < this.#kept; place += 1) {
      const [score, id] = [this.#scores[place] ?? 0, this.#ids[place] ?? 0];
      if (score < least || (score === least && id < oldest)) continue;
      this.#scores[kept] = score;
      this.#ids[kept] = id;
      kept += 1;
    }
    this.#kept = kept;
    this.least = least;
  }

  /** Of those with this score, the id from which on so many are the newest. */
  #oldestOf(score: number, count: number): number {
    const ids = this.#ids.slice(0, this.#kept).filter((_, place) => this.#scores[place] === score);
    return ids.sort()[ids.length - count] ?? 0;
  }
}
