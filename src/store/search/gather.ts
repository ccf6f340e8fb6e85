import {
  BLOCK_PASSAGES,
  POSTING_BYTES,
  bitsAt,
  isAsking,
  isSpokenNumber,
  kindNumberOf,
  placeOf,
  tableOfValues,
  valueIndexOf,
} from './postings.ts';

/** Postings of one term of a query in one block. */
export interface ReadPostings {
  /** Index of the term in the query. */
  readonly term: number;
  readonly block: number;
  readonly postings: Uint8Array;
}

export interface Gathering {
  /** By index of the term. */
  readonly weights: readonly number[];
  readonly averageWords: number;
  /** Passages that are wanted, best first. */
  readonly count: number;
  /** Of kinds that are wanted; absent: all. */
  readonly kinds?: ReadonlySet<number>;
  /** Ids that are wanted; absent: all. */
  readonly ids?: ReadonlySet<number>;
}

export interface GatheredPassage {
  readonly id: number;
  /** Sum of the weights of its terms and, in part, of those around it. */
  readonly score: number;
}

/** BM25's saturation: a word that is said twice counts little more than once. */
const SATURATION = 1;
/** BM25's share of length, of 0.75 as in long documents: passages are of one size. */
const LENGTH_SHARE = 0.3;

/** What a word counts that stands so often in a passage of so many words: 0 to 2. */
export function termValue(count: number, words: number, averageWords: number): number {
  const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * words) / averageWords;
  return (count * (SATURATION + 1)) / (count + SATURATION * length);
}

/** Of what words count in a question, they count this much in what is said next, and in what comes after … */
const ANSWER_SHARE = 0.7;
const SECOND_ANSWER_SHARE = 0.2;
/** … of those of a statement … */
const NEXT_SHARE = 0.35;
const SECOND_NEXT_SHARE = 0.15;
/** … and in what was said before. */
const PREVIOUS_SHARE = 0.2;
const SECOND_PREVIOUS_SHARE = 0.1;
/** As far as words reach, on both sides of a block. */
const REACH = 2;
/** No posting of the passage itself: its kind is not known. */
const UNKNOWN_KIND = 255;

/**
 * The best passages by their postings: BM25 over the terms that were read, each counting where it stands
 * or, in part, where it stands next to the passage in what was said.
 */
export function gather(read: readonly ReadPostings[], gathering: Gathering): GatheredPassage[] {
  const values = tableOfValues((count, words) => termValue(count, words, gathering.averageWords));
  const best = new Best(gathering.count);
  const board = new Board();
  for (const [block, inBlock] of byBlock(read)) {
    board.clear();
    for (const [term, lists] of byTerm(inBlock)) {
      for (const postings of lists) board.spread(postings, values);
      for (const postings of lists) board.collect(postings, gathering.weights[term] ?? 0);
    }
    board.choose(block, gathering, best);
  }
  return best.list();
}

/** Scores of the passages of one block. */
class Board {
  readonly #scores = new Float64Array(BLOCK_PASSAGES + 2 * REACH);
  readonly #kinds = new Uint8Array(BLOCK_PASSAGES + 2 * REACH);
  readonly #ofTerm = new Float64Array(BLOCK_PASSAGES + 2 * REACH);

  clear(): void {
    this.#scores.fill(0);
    this.#kinds.fill(UNKNOWN_KIND);
  }

  /** The value of a term at its places and next to them: the greatest of each. */
  spread(postings: Uint8Array, values: Float64Array): void {
    const [ofTerm, kinds] = [this.#ofTerm, this.#kinds];
    const raise = (place: number, value: number): void => {
      if (value > (ofTerm[place] ?? 0)) ofTerm[place] = value;
    };
    for (let at = 0; at < postings.length; at += POSTING_BYTES) {
      const bits = bitsAt(postings, at);
      const here = placeOf(bits) + REACH;
      const kind = kindNumberOf(bits);
      const value = values[valueIndexOf(bits)] ?? 0;
      kinds[here] = kind;
      raise(here, value);
      if (!isSpokenNumber(kind)) continue;
      const asks = isAsking(bits);
      raise(here + 1, (asks ? ANSWER_SHARE : NEXT_SHARE) * value);
      raise(here + 2, (asks ? SECOND_ANSWER_SHARE : SECOND_NEXT_SHARE) * value);
      raise(here - 1, PREVIOUS_SHARE * value);
      raise(here - 2, SECOND_PREVIOUS_SHARE * value);
    }
  }

  /** Adds a term's values to the scores and leaves nothing of them for the next. */
  collect(postings: Uint8Array, weight: number): void {
    const [ofTerm, scores] = [this.#ofTerm, this.#scores];
    for (let at = 0; at < postings.length; at += POSTING_BYTES) {
      const last = placeOf(bitsAt(postings, at)) + 2 * REACH;
      for (let place = last - 2 * REACH; place <= last; place += 1) {
        const value = ofTerm[place] ?? 0;
        if (value === 0) continue;
        scores[place] = (scores[place] ?? 0) + weight * value;
        ofTerm[place] = 0;
      }
    }
  }

  /** Newest first, so that of equals the newer ones are kept. */
  choose(block: number, { kinds, ids }: Gathering, best: Best): void {
    for (let place = BLOCK_PASSAGES - 1; place >= 0; place -= 1) {
      const score = this.#scores[place + REACH] ?? 0;
      if (score <= best.least) continue;
      const kind = this.#kinds[place + REACH] ?? UNKNOWN_KIND;
      const id = block * BLOCK_PASSAGES + place;
      if (kinds !== undefined && kind !== UNKNOWN_KIND && !kinds.has(kind)) continue;
      if (ids === undefined || ids.has(id)) best.add({ id, score });
    }
  }
}

function byBlock(read: readonly ReadPostings[]): ReadonlyMap<number, readonly ReadPostings[]> {
  const blocks = new Map<number, ReadPostings[]>();
  for (const each of read) {
    const inBlock = blocks.get(each.block);
    if (inBlock === undefined) blocks.set(each.block, [each]);
    else inBlock.push(each);
  }
  // Newest first, so that of equals the newer ones are kept.
  return new Map([...blocks].toSorted(([one], [other]) => other - one));
}

function byTerm(read: readonly ReadPostings[]): ReadonlyMap<number, readonly Uint8Array[]> {
  const lists = new Map<number, Uint8Array[]>();
  for (const { term, postings } of read) {
    const list = lists.get(term);
    if (list === undefined) lists.set(term, [postings]);
    else list.push(postings);
  }
  return lists;
}

/** Keeps the best of many without sorting all. */
class Best {
  readonly #count: number;
  #kept: GatheredPassage[] = [];
  /** What is not above it is not among the best. */
  least = 0;

  constructor(count: number) {
    this.#count = count;
  }

  add(passage: GatheredPassage): void {
    this.#kept.push(passage);
    if (this.#kept.length >= 4 * this.#count) this.#trim();
  }

  list(): GatheredPassage[] {
    this.#trim();
    return this.#kept;
  }

  #trim(): void {
    // Of equals the newer one.
    this.#kept.sort((one, other) => other.score - one.score || other.id - one.id);
    this.#kept.length = Math.min(this.#kept.length, this.#count);
    if (this.#kept.length === this.#count) this.least = this.#kept.at(-1)?.score ?? 0;
  }
}
