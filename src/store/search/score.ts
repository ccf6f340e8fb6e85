import type { Candidate, FoundCandidates } from './candidates.ts';
import type { QueryTerm } from './query.ts';
import type { SearchedScope } from './scope.ts';

/** BM25's saturation and share of length: passages are of one size, and a word that is said twice counts little more. */
const SATURATION = 1;
const LENGTH_SHARE = 0.3;
/** What the words of a passage of the talk count in the next, the one after, the one before and the one before that … */
const NEIGHBOURS: readonly (readonly [distance: number, share: number])[] = [
  [1, 0.35],
  [2, 0.15],
  [-1, 0.2],
  [-2, 0.1],
];
/** … and those of a question. */
const NEIGHBOURS_OF_QUESTION: typeof NEIGHBOURS = [
  [1, 0.7],
  [2, 0.2],
  [-1, 0.2],
  [-2, 0.1],
];
/** Places that a conversation may have. */
const PLACES = 2 ** 24;

interface PlaceLimits {
  readonly count: number;
  /** Passages of the same words and length that are kept: they may be copies of one text, which would hide all others. */
  readonly mostAlike: number;
}

/** A place of the index with what speaks for it: a candidate, or a passage beside one. */
export interface ScoredPlace {
  readonly score: number;
  /** `null`: it has no word of the query itself. */
  readonly candidate: Candidate | null;
  readonly conversationId: string;
  readonly place: number | null;
}

/** BM25's weight of a term that n of N passages have. */
export function rarity(passages: number, total: number): number {
  return Math.log(1 + (Math.max(0, total - passages) + 0.5) / (passages + 0.5));
}

/** What each term of the query counts. In a small scope, whose passages were all read, by how many of these have it. */
export function weightsOf(
  terms: readonly QueryTerm[],
  { candidates, isAll }: FoundCandidates,
  { passages, ofAgent }: SearchedScope,
): readonly number[] {
  return terms.map(({ share, frequency, isStopWord }, bit) => {
    if (!isAll) return share * rarity(frequency, ofAgent);
    if (isStopWord) return share * rarity(Math.min(frequency, passages), passages);
    const found = candidates.filter(({ mask }) => (mask & (1 << bit)) !== 0).length;
    return found === 0 ? 0 : share * rarity(found, passages);
  });
}

/** The best passages by BM25, each term counting where it stands or, in part, where it stands beside the passage in the talk. */
export function scorePlaces(
  candidates: readonly Candidate[],
  weights: readonly number[],
  { count, mostAlike }: PlaceLimits,
): readonly ScoredPlace[] {
  const averageWords = candidates.reduce((sum, { words }) => sum + words, 0) / Math.max(1, candidates.length);
  const board = new ScoreBoard(weights, candidates.length);
  for (const candidate of candidates) board.add(candidate, lengthFactor(candidate.words, averageWords));
  return board.best({ count, mostAlike });
}

function lengthFactor(words: number, averageWords: number): number {
  const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * words) / Math.max(1, averageWords);
  return (SATURATION + 1) / (1 + SATURATION * length);
}

interface Slot {
  readonly conversationId: string;
  readonly place: number | null;
  candidate: Candidate | null;
  /** Where its values begin. */
  readonly at: number;
}

class ScoreBoard {
  readonly #weights: readonly number[];
  readonly #slots = new Map<number, Slot>();
  /** Slot by slot and term by term, the greatest of what it counts there. */
  readonly #values: Float64Array;
  #used = 0;
  readonly #conversations = new Map<string, number>();
  readonly #apart: Slot[] = [];

  constructor(weights: readonly number[], candidates: number) {
    this.#weights = weights;
    this.#values = new Float64Array(candidates * (1 + NEIGHBOURS.length) * weights.length);
  }

  add(candidate: Candidate, value: number): void {
    const { place, mask, isQuestion } = candidate;
    const own = this.#slot(candidate, 0);
    own.candidate = candidate;
    this.#raise(own, mask, value);
    if (place === null) return;
    for (const [distance, share] of isQuestion ? NEIGHBOURS_OF_QUESTION : NEIGHBOURS) {
      if (place + distance >= 0) this.#raise(this.#slot(candidate, distance), mask, share * value);
    }
  }

  best({ count, mostAlike }: PlaceLimits): readonly ScoredPlace[] {
    const scored = [...this.#slots.values(), ...this.#apart]
      .map(({ at, candidate, conversationId, place }) => ({
        score: this.#weights.reduce((sum, weight, bit) => sum + weight * (this.#values[at + bit] ?? 0), 0),
        candidate,
        conversationId,
        place,
      }))
      .toSorted(byScore);
    const alike = new Map<string, number>();
    const isOneOfFew = ({ candidate }: ScoredPlace): boolean => {
      if (candidate === null) return true;
      const outline = `${candidate.mask} ${candidate.words}`;
      const before = alike.get(outline) ?? 0;
      alike.set(outline, before + 1);
      return before < mostAlike;
    };
    return scored.filter(isOneOfFew).slice(0, count);
  }

  #slot({ conversationId, place }: Candidate, distance: number): Slot {
    if (place === null) {
      const slot = this.#newSlot(conversationId, null);
      this.#apart.push(slot);
      return slot;
    }
    const number = this.#conversations.get(conversationId) ?? this.#conversations.size;
    this.#conversations.set(conversationId, number);
    const key = number * PLACES + place + distance;
    const slot = this.#slots.get(key) ?? this.#newSlot(conversationId, place + distance);
    this.#slots.set(key, slot);
    return slot;
  }

  #newSlot(conversationId: string, place: number | null): Slot {
    const at = this.#used;
    this.#used += this.#weights.length;
    return { conversationId, place, candidate: null, at };
  }

  #raise({ at }: Slot, mask: number, value: number): void {
    const values = this.#values;
    for (let bit = 0; bit < this.#weights.length; bit += 1) {
      if ((mask & (1 << bit)) !== 0 && value > (values[at + bit] ?? 0)) values[at + bit] = value;
    }
  }
}

/** Of equals the newest. */
function byScore(one: ScoredPlace, other: ScoredPlace): number {
  return (
    Number(other.candidate?.hasPhrase ?? false) - Number(one.candidate?.hasPhrase ?? false) ||
    other.score - one.score ||
    Number(other.candidate?.id ?? 0) - Number(one.candidate?.id ?? 0)
  );
}
