import { expectedAnswerOf } from './expected-answer.ts';
import type { ExpectedAnswer } from './expected-answer.ts';
import type { FoundPassage, PassageKind } from './found-passage.ts';
import { termValue } from './gather.ts';
import { placesOf, quoteTerm } from './passage-terms.ts';
import { speakersAmong } from './speakers.ts';
import type { Said, Speakers } from './speakers.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** A passage that may answer, as the index has it. */
export interface Candidate {
  readonly conversationId: string;
  readonly sourceId: string;
  readonly kind: PassageKind;
  readonly sequence: number | null;
  readonly toolName: string | null;
  readonly offset: number;
  readonly text: string;
  /** Its tsvector, as Postgres writes it. */
  readonly vector: string;
  readonly words: number;
  readonly createdAt: Date;
  /** What its words and those around it are worth, as far as it was chosen by them. */
  readonly gathered: number;
}

/** A candidate with what speaks for it. */
export interface RankedCandidate extends Candidate {
  readonly score: number;
  readonly match: FoundPassage['match'];
  /** Said by somebody whom the query names. */
  readonly isSaidByAsked: boolean;
  /** Terms of the query that it has itself. */
  readonly matched: readonly WeightedTerm[];
}

/** Two words that stand side by side in the query and in the passage, of the weight of the lesser. */
const ADJACENT_SHARE = 0.3;
/** A turn said by whom the query names is likelier the answer than one said to them. */
const SPEAKER_FACTOR = 1.25;
/** Who asks for a time or a number is answered by what names one. */
const EXPECTED_FACTOR = 1.15;
/** A passage with none of the names in the query is likelier of somebody else. */
const NAMELESS_FACTOR = 0.85;
/** Shorter queries would stand everywhere. Characters. */
const SHORTEST_PHRASE = 3;

/** Words that must be known before a passage without any of them is listed for what stands beside it. */
const WORDS_OF_A_QUESTION = 3;

export interface RankedQuery {
  /** As it was asked, trimmed. */
  readonly text: string;
  readonly terms: readonly WeightedTerm[];
  readonly averageWords: number;
  /** Indexes of terms whose worth is in `gathered`. */
  readonly chosenBy: ReadonlySet<number>;
}

/** The first and the last word of a phrase may stand for parts of words. */
const PARTIAL_TERMS = 2;

/** Scores each candidate by its own words and those around it; best first. */
export function rankCandidates(query: RankedQuery, candidates: readonly Candidate[]): RankedCandidate[] {
  const quoted = query.terms.map(({ terms }) => terms.map(quoteTerm));
  const asked: ScoredQuery = { ...query, text: plain(query.text), expected: expectedAnswerOf(query.text) };
  const speakers = speakersAmong(candidates, query);
  const ranked = candidates.map((candidate) => score(asked, quoted, speakers, candidate));
  // A single word asks for where it stands, a question for its answer.
  const telling = new Set(
    query.terms.filter(({ isStopWord, isRelated }) => !isStopWord && !isRelated).map(({ position }) => position),
  );
  const isQuestion = telling.size >= WORDS_OF_A_QUESTION;
  return ranked.filter(({ match }) => isQuestion || match !== 'neighbour').toSorted(bestFirst);
}

/**
 * What has the query as it is goes first. Summaries come after originals: they repeat what these say, one generation after
 * the other, and the newest is in the view anyhow.
 */
export function bestFirst(one: RankedCandidate, other: RankedCandidate): number {
  return (
    exactness(other) - exactness(one) ||
    Number(one.kind === 'summary') - Number(other.kind === 'summary') ||
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

function placesOfAny(vector: string, quoted: readonly string[]): readonly number[] | null {
  let places: readonly number[] | null = null;
  for (const term of quoted) {
    const found = placesOf(vector, term);
    if (found !== null) places = places === null ? found : [...new Set([...places, ...found])];
  }
  return places;
}

interface ScoredQuery extends RankedQuery {
  readonly expected: ExpectedAnswer | null;
}

function score(
  query: ScoredQuery,
  quoted: readonly (readonly string[])[],
  speakers: Speakers,
  candidate: Candidate,
): RankedCandidate {
  const places = quoted.map((terms) => placesOfAny(candidate.vector, terms));
  const own = query.terms.filter((_, index) => places[index] !== null);
  let total = candidate.gathered + adjacency(query.terms, places);
  for (const [index, { weight }] of query.terms.entries()) {
    const found = places[index];
    if (found === null || found === undefined || query.chosenBy.has(index)) continue;
    total += weight * termValue(Math.max(1, found.length), candidate.words, query.averageWords);
  }
  const said = speakers(candidate);
  return {
    ...candidate,
    isSaidByAsked: said.isByAsked,
    score:
      (said.isByAsked ? SPEAKER_FACTOR : 1) *
      (query.expected?.(said.text, said.at) === true ? EXPECTED_FACTOR : 1) *
      (isOfOthers(query.terms, own, said) ? NAMELESS_FACTOR : 1) *
      total,
    match: matchOf(query, candidate, own),
    matched: own,
  };
}

/** What words earn that stand side by side in the query and in the passage. */
function adjacency(terms: readonly WeightedTerm[], places: readonly (readonly number[] | null)[]): number {
  let earned = 0;
  for (const [index, term] of terms.entries()) {
    const next = terms[index + 1];
    const [here, there] = [places[index] ?? [], places[index + 1] ?? []];
    if (next === undefined || here.length === 0 || there.length === 0 || term.isDate || next.isDate) continue;
    const distance = next.position - term.position;
    if (distance < 1 || distance > 2 || !here.some((place) => there.includes(place + distance))) continue;
    earned += ADJACENT_SHARE * Math.min(term.weight, next.weight);
  }
  return earned;
}

function matchOf(query: RankedQuery, candidate: Candidate, own: readonly WeightedTerm[]): FoundPassage['match'] {
  // The text is read only where it may have the phrase: all its whole words stand there.
  const hasAll = countAsked(own) >= countAsked(query.terms) - PARTIAL_TERMS;
  if (hasAll && query.text.length >= SHORTEST_PHRASE && plain(candidate.text).includes(query.text)) {
    return 'phrase';
  }
  if (own.some(({ isSimilar }) => !isSimilar)) return 'words';
  return own.length > 0 ? 'similar' : 'neighbour';
}

function countAsked(terms: readonly WeightedTerm[]): number {
  let count = 0;
  for (const { isRelated } of terms) if (!isRelated) count += 1;
  return count;
}

/** Without regard to case and the kind of white space. */
export function plain(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/gu, ' ').trim();
}
