import { isSummary } from './candidate.ts';
import type { Candidate, RankedCandidate } from './candidate.ts';
import { expectedAnswerOf } from './expected-answer.ts';
import type { ExpectedAnswer } from './expected-answer.ts';
import type { FoundPassage } from './found-passage.ts';
import type { AskedWords, WordScored } from './score-words.ts';
import { speakersAmong } from './speakers.ts';
import type { Said, Speakers } from './speakers.ts';
import { hasPhrases } from './phrases.ts';
import type { Phrases } from './phrases.ts';
import { isWider } from './query-terms.ts';
import { asks } from './statement.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** A turn said by whom the query names is likelier the answer than one said to them. */
const SPEAKER_FACTOR = 1.25;
/** Who asks for a time or a number is answered by what names one. */
const EXPECTED_FACTOR = 1.15;
/** A passage with none of the names in the query is likelier of somebody else. */
const NAMELESS_FACTOR = 0.85;
/** What asks for the same is not its answer, however many words it shares. */
const ASKING_FACTOR = 0.7;
/** Words that must be known before a passage without any of them is listed for what stands beside it. */
const WORDS_OF_A_QUESTION = 3;

const IS_QUESTION = /[?？؟]\s*$/u;

export interface RankedQuery extends AskedWords {
  /** As it was asked, trimmed. */
  readonly text: string;
  readonly phrases: Phrases;
}

/** A passage whose words were scored, with its text. */
export type ReadCandidate = Candidate & WordScored;

/** The first and the last word of what is part of an identifier may stand for parts of words. */
const PARTIAL_TERMS = 2;

/** Scores each candidate by its words and by what its text says; best first. */
export function rankCandidates(query: RankedQuery, candidates: readonly ReadCandidate[]): RankedCandidate[] {
  const asked: ScoredQuery = { ...query, expected: expectedAnswerOf(query.text) };
  const speakers = speakersAmong(candidates, query);
  const ranked = candidates.map((candidate) => score(asked, speakers, candidate));
  // A word or two ask for where they stand, a question for its answer.
  const telling = new Set(
    query.terms.filter(({ isStopWord, isRelated }) => !isStopWord && !isRelated).map(({ position }) => position),
  );
  const isQuestion = telling.size >= WORDS_OF_A_QUESTION || IS_QUESTION.test(query.text);
  return ranked
    .filter(({ match, matched }) => isQuestion || (match !== 'neighbour' && !matched.every(isWider)))
    .toSorted(bestFirst);
}

/**
 * What has the query as it is goes first. Summaries come after originals: they repeat what these say, one generation after
 * the other, and the newest is in the view anyhow.
 */
export function bestFirst(one: RankedCandidate, other: RankedCandidate): number {
  return (
    exactness(other) - exactness(one) ||
    Number(isSummary(one)) - Number(isSummary(other)) ||
    other.score - one.score ||
    other.createdAt.getTime() - one.createdAt.getTime() ||
    (other.sequence ?? 0) - (one.sequence ?? 0) ||
    (one.sourceId < other.sourceId ? -1 : one.sourceId > other.sourceId ? 1 : one.offset - other.offset)
  );
}

function exactness({ match }: RankedCandidate): number {
  return match === 'id' ? 2 : match === 'phrase' ? 1 : 0;
}

/** The query names somebody or something, and the passage has none of these names, or speaks to whom it names. */
function isOfOthers(terms: readonly WeightedTerm[], own: readonly WeightedTerm[], said: Said): boolean {
  if (!terms.some(({ isName }) => isName) || said.isByAsked) return false;
  return !own.some(({ isName, word }) => isName && !said.addressed.has(word)) && !said.isByAnybody();
}

interface ScoredQuery extends RankedQuery {
  readonly expected: ExpectedAnswer | null;
}

function score(query: ScoredQuery, speakers: Speakers, candidate: ReadCandidate): RankedCandidate {
  const { matched } = candidate;
  const said = speakers(candidate);
  const isAsking = asks(candidate);
  return {
    ...candidate,
    isSaidByAsked: said.isByAsked,
    asks: isAsking,
    score:
      (said.isByAsked ? SPEAKER_FACTOR : 1) *
      (query.expected?.(said.text, said.at) === true ? EXPECTED_FACTOR : 1) *
      (isOfOthers(query.terms, matched, said) ? NAMELESS_FACTOR : 1) *
      (isAsking ? ASKING_FACTOR : 1) *
      candidate.wordScore,
    match: matchOf(query, candidate, matched),
  };
}

function matchOf(query: RankedQuery, { text }: Candidate, own: readonly WeightedTerm[]): FoundPassage['match'] {
  // The text is read only where it may have the phrase: what is asked for stands there, word for word.
  const ofQuery = countAsked(own);
  const least = query.phrases.areQuoted ? 1 : Math.max(1, countAsked(query.terms) - PARTIAL_TERMS);
  if (ofQuery >= least && hasPhrases(text, query.phrases)) return 'phrase';
  if (own.some(({ isSimilar }) => !isSimilar)) return 'words';
  return own.length > 0 ? 'similar' : 'neighbour';
}

function countAsked(terms: readonly WeightedTerm[]): number {
  let count = 0;
  for (const { isRelated } of terms) if (!isRelated) count += 1;
  return count;
}
