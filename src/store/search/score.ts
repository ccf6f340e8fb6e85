import type { Candidate, FoundCandidates } from './candidates.ts';
import type { QueryTerm } from './query.ts';
import type { SearchedScope } from './scope.ts';

/** BM25's saturation and share of length: passages are of one size, and a word that is said twice counts little more. */
const SATURATION = 1;
const LENGTH_SHARE = 0.3;
/** What the words of a passage of the talk count in the next, the one after, the one before and the one before that. */
const NEIGHBOURS: readonly (readonly [distance: number, share: number])[] = [
  [1, 0.35],
  [2, 0.15],
  [-1, 0.2],
  [-2, 0.1],
];
/** The next passage is the answer to a question. */
const SHARE_OF_QUESTION = 0.7;

interface PlaceLimits {
  readonly count: number;
  /** Passages of the same words and length that are kept: they may be copies of one text, which would hide all others. */
  readonly mostAlike: number;
}

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

interface Slot {
  readonly conversationId: string;
  readonly place: number | null;
  candidate: Candidate | null;
  /** Term by term, the greatest of what it counts there. */
  readonly values: number[];
}

/** The best passages by BM25, each term counting where it stands or, in part, where it stands beside the passage in the talk. */
export function scorePlaces(
  candidates: readonly Candidate[],
  weights: readonly number[],
  { count, mostAlike }: PlaceLimits,
): readonly ScoredPlace[] {
  const averageWords = candidates.reduce((sum, { words }) => sum + words, 0) / Math.max(1, candidates.length);
  const slots: Slot[] = [];
  const talks = new Map<string, Map<number, Slot>>();
  const slotAt = (conversationId: string, place: number | null): Slot => {
    const talk = talks.get(conversationId) ?? new Map<number, Slot>();
    const known = place === null ? undefined : talk.get(place);
    if (known !== undefined) return known;
    const slot = { conversationId, place, candidate: null, values: weights.map(() => 0) };
    slots.push(slot);
    if (place !== null) talks.set(conversationId, talk.set(place, slot));
    return slot;
  };
  for (const candidate of candidates) {
    const { conversationId, place, mask } = candidate;
    const value = lengthFactor(candidate.words, averageWords);
    const own = slotAt(conversationId, place);
    own.candidate = candidate;
    raise(own, mask, value);
    if (place === null) continue;
    for (const [distance, usual] of NEIGHBOURS) {
      const share = candidate.isQuestion && distance === 1 ? SHARE_OF_QUESTION : usual;
      if (place + distance >= 0) raise(slotAt(conversationId, place + distance), mask, share * value);
    }
  }
  const scored = slots.map(({ values, candidate, conversationId, place }) => ({
    score: weights.reduce((sum, weight, bit) => sum + weight * (values[bit] ?? 0), 0),
    candidate,
    conversationId,
    place,
  }));
  return fewAlike(scored.toSorted(byScore), mostAlike).slice(0, count);
}

function lengthFactor(words: number, averageWords: number): number {
  const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * words) / Math.max(1, averageWords);
  return (SATURATION + 1) / (1 + SATURATION * length);
}

function raise({ values }: Slot, mask: number, value: number): void {
  for (let bit = 0; bit < values.length; bit += 1) {
    if ((mask & (1 << bit)) !== 0 && value > (values[bit] ?? 0)) values[bit] = value;
  }
}

function fewAlike(scored: readonly ScoredPlace[], mostAlike: number): readonly ScoredPlace[] {
  const alike = new Map<string, number>();
  return scored.filter(({ candidate }) => {
    if (candidate === null) return true;
    const outline = `${candidate.mask} ${candidate.words}`;
    const before = alike.get(outline) ?? 0;
    alike.set(outline, before + 1);
    return before < mostAlike;
  });
}

function byScore(one: ScoredPlace, other: ScoredPlace): number {
  return (
    Number(other.candidate?.hasPhrase ?? false) - Number(one.candidate?.hasPhrase ?? false) ||
    other.score - one.score ||
    Number(other.candidate?.id ?? 0) - Number(one.candidate?.id ?? 0)
  );
}
