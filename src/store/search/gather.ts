import { BestPassages } from './best-passages.ts';
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
  readonly ids?: IdSet;
}

export interface IdSet {
  has(id: number): boolean;
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
/** Of a block, with those that words reach on both sides of it. */
const PLACES = BLOCK_PASSAGES + 2 * REACH;
/** No posting of the passage itself: its kind is not known. */
const UNKNOWN_KIND = 255;

/**
 * The best passages by their postings: BM25 over the terms that were read, each counting where it stands
 * or, in part, where it stands next to the passage in what was said.
 */
export function gather(read: readonly ReadPostings[], gathering: Gathering): GatheredPassage[] {
  const values = tableOfValues((count, words) => termValue(count, words, gathering.averageWords));
  const best = new BestPassages(gathering.count);
  const board = new Board();
  for (const [block, inBlock] of byBlock(read)) {
    for (const [at, { term, postings }] of inBlock.sort(byTerm).entries()) {
      board.spread(postings, values);
      if (inBlock[at + 1]?.term !== term) board.collect(gathering.weights[term] ?? 0);
    }
    board.choose(block, gathering, best);
  }
  return best.list();
}

/** Scores of the passages of one block. Only places that were given any are ever looked at: a rare word has few of them. */
class Board {
  readonly #scores = new Float64Array(PLACES);
  readonly #kinds = new Uint8Array(PLACES).fill(UNKNOWN_KIND);
  readonly #ofTerm = new Float64Array(PLACES);
  readonly #isTouched = new Uint8Array(PLACES);
  readonly #touched = new Places();
  readonly #touchedByTerm = new Places();

  /** The value of a term at its places and next to them: the greatest of each. */
  spread(postings: Uint8Array, values: Float64Array): void {
    const [ofTerm, kinds, touched] = [this.#ofTerm, this.#kinds, this.#touchedByTerm];
    for (let at = 0; at < postings.length; at += POSTING_BYTES) {
      const bits = bitsAt(postings, at);
      const here = placeOf(bits) + REACH;
      const kind = kindNumberOf(bits);
      const value = values[valueIndexOf(bits)] ?? 0;
      kinds[here] = kind;
      raise(ofTerm, touched, here, value);
      if (!isSpokenNumber(kind)) continue;
      const asks = isAsking(bits);
      raise(ofTerm, touched, here + 1, (asks ? ANSWER_SHARE : NEXT_SHARE) * value);
      raise(ofTerm, touched, here + 2, (asks ? SECOND_ANSWER_SHARE : SECOND_NEXT_SHARE) * value);
      raise(ofTerm, touched, here - 1, PREVIOUS_SHARE * value);
      raise(ofTerm, touched, here - 2, SECOND_PREVIOUS_SHARE * value);
    }
  }

  /** Adds a term's values to the scores and leaves nothing of them for the next. */
  collect(weight: number): void {
    const [ofTerm, scores, isTouched, touched] = [this.#ofTerm, this.#scores, this.#isTouched, this.#touched];
    const { list, count } = this.#touchedByTerm;
    for (let index = 0; index < count; index += 1) {
      const place = list[index] ?? 0;
      if (isTouched[place] === 0) touched.add(place);
      isTouched[place] = 1;
      scores[place] = (scores[place] ?? 0) + weight * (ofTerm[place] ?? 0);
      ofTerm[place] = 0;
    }
    this.#touchedByTerm.count = 0;
  }

  /** Hands on what is good enough, and leaves nothing for the next block. */
  choose(block: number, { kinds, ids }: Gathering, best: BestPassages): void {
    const [scores, ofKind, isTouched, { list, count }] = [this.#scores, this.#kinds, this.#isTouched, this.#touched];
    for (let index = 0; index < count; index += 1) {
      const place = list[index] ?? 0;
      const score = scores[place] ?? 0;
      const kind = ofKind[place] ?? UNKNOWN_KIND;
      scores[place] = 0;
      isTouched[place] = 0;
      ofKind[place] = UNKNOWN_KIND;
      if (score < best.least || score <= 0 || place < REACH || place >= BLOCK_PASSAGES + REACH) continue;
      const id = block * BLOCK_PASSAGES + place - REACH;
      if (kinds !== undefined && kind !== UNKNOWN_KIND && !kinds.has(kind)) continue;
      if (ids === undefined || ids.has(id)) best.add(id, score);
    }
    this.#touched.count = 0;
  }
}

/** Places of a block, each once. */
class Places {
  readonly list = new Int32Array(PLACES);
  count = 0;

  add(place: number): void {
    this.list[this.count] = place;
    this.count += 1;
  }
}

function raise(ofTerm: Float64Array, touched: Places, place: number, value: number): void {
  const before = ofTerm[place] ?? 0;
  if (value <= before) return;
  if (before === 0) touched.add(place);
  ofTerm[place] = value;
}

function byBlock(read: readonly ReadPostings[]): ReadonlyMap<number, ReadPostings[]> {
  const blocks = new Map<number, ReadPostings[]>();
  for (const each of read) {
    const inBlock = blocks.get(each.block);
    if (inBlock === undefined) blocks.set(each.block, [each]);
    else inBlock.push(each);
  }
  return blocks;
}

/**
 * Postings by their term, ascending: Postgres hands them over in whatever order they lie in, and numbers that are added up in
 * another order differ in their last digit, which would put passages that are equally good in another order.
 */
function byTerm(one: ReadPostings, other: ReadPostings): number {
  return one.term - other.term;
}
