import type { RecallPassage } from '../../tools/tool.ts';
import { headingOf } from './passage-text.ts';
import { hasPhrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';
import type { QueryTerm } from './query.ts';
import type { ReadPassage } from './read-passages.ts';
import { statementOf } from './passage-text.ts';
import type { ScoredPlace } from './score.ts';

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
const IS_QUESTION = /[?？؟]\s*$/u;

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

export interface WeightedTerm extends QueryTerm {
  readonly weight: number;
}

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
  const scored = new Map(places.map((place) => [keyOf(place.candidate?.id ?? null, place), place]));
  const telling = query.terms.filter(({ isStopWord }) => !isStopWord).map(({ position }) => position);
  const isQuestion = new Set(telling).size >= WORDS_OF_A_QUESTION || IS_QUESTION.test(query.text);
  return read
    .flatMap((passage) => {
      const place = scored.get(keyOf(passage.id, passage)) ?? scored.get(keyOf(null, passage));
      return place === undefined ? [] : [rank(query, passage, place)];
    })
    .filter(({ match }) => isQuestion || match !== 'neighbour')
    .toSorted(bestFirst);
}

function keyOf(id: string | null, { conversationId, place }: Pick<ScoredPlace, 'conversationId' | 'place'>): string {
  return id ?? `${conversationId} ${place}`;
}

function rank({ terms, phrases }: RankedQuery, passage: ReadPassage, { score, candidate }: ScoredPlace): RankedPassage {
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
    match: matchOf(passage.text, { terms, phrases }, matched),
  };
}

function matchOf(
  text: string,
  { terms, phrases }: Pick<RankedQuery, 'terms' | 'phrases'>,
  matched: readonly WeightedTerm[],
): RankedPassage['match'] {
  if (matched.length === 0) return 'neighbour';
  // The first and the last word of what is part of an identifier may be parts of words.
  const mayBePhrase = phrases.some(({ row }) => row === null) || matched.length >= terms.length - PARTIAL_TERMS;
  if (mayBePhrase && hasPhrases(text, phrases)) return 'phrase';
  return matched.some(({ isSimilar }) => !isSimilar) ? 'words' : 'similar';
}

/**
 * What has the query as it is goes first. Summaries come after originals: they repeat these, one generation after the other, and the
 * newest is in the view anyhow.
 */
export function bestFirst(one: RankedPassage, other: RankedPassage): number {
  return (
    exactness(other) - exactness(one) ||
    Number(isSummary(one)) - Number(isSummary(other)) ||
    other.score - one.score ||
    other.createdAt.getTime() - one.createdAt.getTime() ||
    Number(other.id) - Number(one.id)
  );
}

function exactness({ match }: RankedPassage): number {
  return match === 'id' ? 2 : match === 'phrase' ? 1 : 0;
}

export function isSummary({ kind }: Pick<ReadPassage, 'kind'>): boolean {
  return kind === 'summary' || kind === 'branch_summary';
}
