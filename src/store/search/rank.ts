import type { Candidate, FoundCandidates } from './candidates.ts';
import type { QueryTerm } from './query.ts';
import type { SearchedScope } from './scope.ts';
import type { RecallPassage } from '../../tools/tool.ts';
import { ASKS, headingOf, statementOf } from './passage-text.ts';
import { hasPhrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';
import type { ReadPassage } from './read-passages.ts';

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

/** Part of the kept places that may be of the same words and length: they may be copies of one text, which would hide all others. */
const SHARE_OF_ALIKE = 1 / 3;

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

interface Slot extends Pick<ScoredPlace, 'conversationId' | 'place'> {
  candidate: Candidate | null;
  /** Term by term, the greatest of what it counts there. */
  readonly values: number[];
}

/** The best passages by BM25, each term counting where it stands or, in part, where it stands beside the passage in the talk. */
export function scorePlaces(
  candidates: readonly Candidate[],
  weights: readonly number[],
  count: number,
): readonly ScoredPlace[] {
  const averageWords = candidates.reduce((sum, { words }) => sum + words, 0) / Math.max(1, candidates.length);
  const slots = new Map<string, Slot>();
  const raise = ({ id, conversationId, mask }: Candidate, place: number | null, value: number): Slot => {
    const key = keyOf({ id, conversationId, place });
    const slot = slots.get(key) ?? { conversationId, place, candidate: null, values: weights.map(() => 0) };
    for (let bit = 0; bit < weights.length; bit += 1) {
      if ((mask & (1 << bit)) !== 0) slot.values[bit] = Math.max(value, slot.values[bit] ?? 0);
    }
    slots.set(key, slot);
    return slot;
  };
  for (const candidate of candidates) {
    const { place, words, isQuestion } = candidate;
    const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * words) / Math.max(1, averageWords);
    const value = (SATURATION + 1) / (1 + SATURATION * length);
    raise(candidate, place, value).candidate = candidate;
    if (place === null) continue;
    for (const [distance, usual] of NEIGHBOURS) {
      const share = isQuestion && distance === 1 ? SHARE_OF_QUESTION : usual;
      if (place + distance >= 0) raise(candidate, place + distance, share * value);
    }
  }
  const scored = Array.from(slots.values(), ({ values, ...slot }) =>
    Object.assign(slot, { score: weights.reduce((sum, weight, bit) => sum + weight * (values[bit] ?? 0), 0) }),
  );
  return fewAlike(scored.toSorted(byScore), SHARE_OF_ALIKE * count).slice(0, count);
}

/** The same for a passage and for the place of it in its talk. */
function keyOf({ id, conversationId, place }: Pick<Candidate, 'id' | 'conversationId' | 'place'>): string {
  return place === null ? id : `${conversationId} ${place}`;
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
    Number(other.candidate?.mayHavePhrase ?? false) - Number(one.candidate?.mayHavePhrase ?? false) ||
    other.score - one.score ||
    Number(other.candidate?.id ?? 0) - Number(one.candidate?.id ?? 0)
  );
}

/** What asks for the same is not its answer, however many words it shares. */
const QUESTION_FACTOR = 0.7;
/** A turn said by whom the query names is likelier the answer than one said to them. */
const SPEAKER_FACTOR = 1.25;
/** A passage with none of the names in the query is likelier of somebody else. */
const NAMELESS_FACTOR = 0.85;
/** Words that a query must have before a passage without any of them is listed for what stands beside it. */
const WORDS_OF_A_QUESTION = 3;
const PARTIAL_TERMS = 2;
const MAYBE_ASKS = /[?？؟]/u;

export interface RankedPassage extends ReadPassage {
  readonly score: number;
  readonly match: RecallPassage['match'];
  /** Terms of the query that it has itself. */
  readonly matched: readonly WeightedTerm[];
  readonly isSaidByAsked: boolean;
  /** The sentence of it that has most of the query asks something. */
  readonly asks: boolean;
}

export const WITHOUT_WORDS = { score: 0, matched: [], isSaidByAsked: false, asks: false } as const;

type WeightedTerm = QueryTerm & { readonly weight: number };

export interface RankedQuery {
  readonly text: string;
  readonly phrases: Phrases;
  /** In the order of the bits of a mask. */
  readonly terms: readonly WeightedTerm[];
}

export function rankPassages(
  query: RankedQuery,
  read: readonly ReadPassage[],
  places: readonly ScoredPlace[],
): RankedPassage[] {
  const scored = new Map(places.map((place) => [keyOf({ id: place.candidate?.id ?? '', ...place }), place]));
  const telling = query.terms.filter(({ isStopWord }) => !isStopWord).map(({ position }) => position);
  const isQuestion = new Set(telling).size >= WORDS_OF_A_QUESTION || ASKS.test(query.text);
  return read
    .flatMap((passage) => {
      const place = scored.get(keyOf(passage));
      return place === undefined ? [] : [rank(query, passage, place)];
    })
    .filter(({ match }) => isQuestion || match !== 'neighbour')
    .toSorted(bestFirst);
}

function rank(query: RankedQuery, passage: ReadPassage, { score, candidate }: ScoredPlace): RankedPassage {
  const { terms } = query;
  const matched = terms.filter((_, bit) => ((candidate?.mask ?? 0) & (1 << bit)) !== 0);
  const { speaker } = headingOf(passage.text);
  const isSaidByAsked = terms.some(({ word, isStopWord }) => !isStopWord && speaker.includes(word));
  const asks = MAYBE_ASKS.test(passage.text) && statementOf(passage.text, matched).isQuestion;
  const isOfOthers = terms.some(({ isName }) => isName) && !isSaidByAsked && !matched.some(({ isName }) => isName);
  return {
    ...passage,
    matched,
    isSaidByAsked,
    asks,
    score:
      score * (asks ? QUESTION_FACTOR : 1) * (isSaidByAsked ? SPEAKER_FACTOR : 1) * (isOfOthers ? NAMELESS_FACTOR : 1),
    match: matchOf(passage.text, query, matched),
  };
}

function matchOf(
  text: string,
  { terms, phrases }: RankedQuery,
  matched: readonly WeightedTerm[],
): RankedPassage['match'] {
  if (matched.length === 0) return 'neighbour';
  // The first and the last word of what is part of an identifier may be parts of words.
  const mayBePhrase = phrases.some(({ row }) => row === null) || matched.length >= terms.length - PARTIAL_TERMS;
  if (mayBePhrase && hasPhrases(text, phrases)) return 'phrase';
  return matched.some(({ isSimilar }) => !isSimilar) ? 'words' : 'similar';
}

const EXACTNESS: readonly RankedPassage['match'][] = ['phrase', 'id'];

/**
 * What has the query as it is goes first. Summaries come after originals: they repeat these, one generation after the other, and the
 * newest is in the view anyhow.
 */
export function bestFirst(one: RankedPassage, other: RankedPassage): number {
  return (
    EXACTNESS.indexOf(other.match) - EXACTNESS.indexOf(one.match) ||
    Number(isSummary(one)) - Number(isSummary(other)) ||
    other.score - one.score ||
    other.createdAt.getTime() - one.createdAt.getTime() ||
    Number(other.id) - Number(one.id)
  );
}

export function isSummary({ kind }: Pick<ReadPassage, 'kind'>): boolean {
  return kind === 'summary' || kind === 'branch_summary';
}
