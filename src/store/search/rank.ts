import type { FoundPassage, PassageKind } from './found-passage.ts';
import { placesOf, quoteTerm } from './passage-terms.ts';
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
  /** Found by its own words; else it stands beside one that was. */
  readonly isHit: boolean;
}

/** A candidate with what speaks for it. */
export interface RankedCandidate extends Candidate {
  readonly score: number;
  readonly match: FoundPassage['match'];
  /** Terms of the query that it has itself. */
  readonly matched: readonly WeightedTerm[];
}

/** BM25's saturation: a word that is said twice counts little more than once. */
const SATURATION = 1;
/** BM25's share of length, of 0.75 as in long documents: passages are of one size. */
const LENGTH_SHARE = 0.3;
/** Of what words count in the passage itself, they count this much in the entry before (the question to an answer) … */
const BEFORE_SHARE = 0.4;
/** … and in the one behind. */
const BEHIND_SHARE = 0.2;
/** For each entry between. */
const DISTANCE_SHARE = 0.5;
/** Two words that stand side by side in the query and in the passage, of the weight of the lesser. */
const ADJACENT_SHARE = 0.3;
/** A turn said by whom the query names is likelier the answer than one said to them. */
const SPEAKER_FACTOR = 1.1;
/** Shorter queries would stand everywhere. Characters. */
const SHORTEST_PHRASE = 3;

/** Words that must be known before a passage without any of them is listed for what stands beside it. */
const WORDS_OF_A_QUESTION = 3;

export interface RankedQuery {
  /** As it was asked, trimmed. */
  readonly text: string;
  readonly terms: readonly WeightedTerm[];
  readonly averageWords: number;
}

/** The first and the last word of a phrase may stand for parts of words. */
const PARTIAL_TERMS = 2;

/** Scores each candidate by its own words and those around it; best first. */
export function rankCandidates(query: RankedQuery, candidates: readonly Candidate[]): RankedCandidate[] {
  const quoted = query.terms.map(({ terms }) => terms.map(quoteTerm));
  const measured = candidates.map((candidate) => measure(query, quoted, candidate));
  const byPlace = placesInConversations(measured);
  const ranked = measured.map((each) => score(query, each, byPlace));
  // A single word asks for where it stands, a question for its answer.
  const telling = new Set(query.terms.filter(({ isStopWord }) => !isStopWord).map(({ position }) => position));
  const isQuestion = telling.size >= WORDS_OF_A_QUESTION;
  return ranked.filter(({ match }) => isQuestion || match !== 'neighbour').toSorted(bestFirst);
}

/**
 * What has the query as it is goes first. Summaries come after originals: they repeat what these say, one generation after
 * the other, and the newest is in the view anyhow.
 */
export function bestFirst(one: RankedCandidate, other: RankedCandidate): number {
  const rank = ({ match }: RankedCandidate): number => (match === 'id' ? 2 : match === 'phrase' ? 1 : 0);
  return (
    rank(other) - rank(one) ||
    Number(one.kind === 'summary') - Number(other.kind === 'summary') ||
    other.score - one.score ||
    other.createdAt.getTime() - one.createdAt.getTime() ||
    (other.sequence ?? 0) - (one.sequence ?? 0) ||
    (one.sourceId < other.sourceId ? -1 : one.sourceId > other.sourceId ? 1 : one.offset - other.offset)
  );
}

/** A candidate with what its own words are worth. */
interface Measured {
  readonly candidate: Candidate;
  /** For each term of the query: 0 to about 2. */
  readonly values: readonly number[];
  readonly places: readonly (readonly number[] | null)[];
}

function measure(
  { averageWords }: RankedQuery,
  quoted: readonly (readonly string[])[],
  candidate: Candidate,
): Measured {
  const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * candidate.words) / averageWords;
  const places = quoted.map((terms) => placesOfAny(candidate.vector, terms));
  const values = places.map((each) => {
    if (each === null) return 0;
    const count = Math.max(1, each.length);
    return (count * (SATURATION + 1)) / (count + SATURATION * length);
  });
  return { candidate, values, places };
}

function placesOfAny(vector: string, quoted: readonly string[]): readonly number[] | null {
  let places: readonly number[] | null = null;
  for (const term of quoted) {
    const found = placesOf(vector, term);
    if (found !== null) places = places === null ? found : [...new Set([...places, ...found])];
  }
  return places;
}

function score(query: RankedQuery, measured: Measured, byPlace: Places): RankedCandidate {
  const { candidate, values } = measured;
  const total = sumWithNeighbours(query.terms, values, neighboursOf(candidate, byPlace));
  const own = query.terms.filter((_, index) => (values[index] ?? 0) > 0);
  const factor = isSaidBy(candidate.text, own) ? SPEAKER_FACTOR : 1;
  return {
    ...candidate,
    score: factor * (total + adjacency(query.terms, measured)),
    match: matchOf(query, candidate, own),
    matched: own,
  };
}

interface Neighbour {
  readonly share: number;
  readonly values: readonly number[];
}

function sumWithNeighbours(
  terms: readonly WeightedTerm[],
  values: readonly number[],
  neighbours: readonly Neighbour[],
): number {
  let sum = 0;
  for (const [index, { weight }] of terms.entries()) {
    let best = values[index] ?? 0;
    for (const { share, values: theirs } of neighbours) best = Math.max(best, share * (theirs[index] ?? 0));
    sum += weight * best;
  }
  return sum;
}

/** What was said, by conversation and sequence. */
type Places = ReadonlyMap<string, ReadonlyMap<number, Measured>>;

function placesInConversations(measured: readonly Measured[]): Places {
  const places = new Map<string, Map<number, Measured>>();
  for (const each of measured) {
    const { conversationId, sequence, offset } = each.candidate;
    if (sequence === null || offset !== 0 || !isSpoken(each.candidate)) continue;
    const inConversation = places.get(conversationId) ?? new Map<number, Measured>();
    places.set(conversationId, inConversation.set(sequence, each));
  }
  return places;
}

function neighboursOf(candidate: Candidate, places: Places): readonly Neighbour[] {
  const inConversation = places.get(candidate.conversationId);
  if (candidate.sequence === null || inConversation === undefined || !isSpoken(candidate)) return [];
  const neighbours: Neighbour[] = [];
  for (const distance of [-2, -1, 1, 2]) {
    const found = inConversation.get(candidate.sequence + distance);
    if (found === undefined) continue;
    const share = (distance < 0 ? BEFORE_SHARE : BEHIND_SHARE) * DISTANCE_SHARE ** (Math.abs(distance) - 1);
    neighbours.push({ share, values: found.values });
  }
  return neighbours;
}

function isSpoken({ kind }: Candidate): boolean {
  return kind === 'user' || kind === 'assistant';
}

/** What words earn that stand side by side in the query and in the passage. */
function adjacency(terms: readonly WeightedTerm[], { places }: Measured): number {
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

/** `Name: …`, also behind a time in brackets. */
const SPEAKER = /^\s*(?:[[(][^\])\n]{0,60}[\])]\s*)?(\p{Lu}[\p{L}\p{M}'’ .-]{0,40}):\s/u;

function isSaidBy(text: string, terms: readonly WeightedTerm[]): boolean {
  const speaker = SPEAKER.exec(text)?.[1]?.toLowerCase().split(' ');
  return speaker !== undefined && terms.some(({ word, isStopWord }) => !isStopWord && speaker.includes(word));
}

function matchOf(query: RankedQuery, candidate: Candidate, own: readonly WeightedTerm[]): FoundPassage['match'] {
  // The text is read only where it may have the phrase: all its whole words stand there.
  const hasAll = own.length >= query.terms.length - PARTIAL_TERMS;
  if (hasAll && query.text.length >= SHORTEST_PHRASE && plain(candidate.text).includes(plain(query.text))) {
    return 'phrase';
  }
  if (own.some(({ isSimilar }) => !isSimilar)) return 'words';
  return own.length > 0 ? 'similar' : 'neighbour';
}

/** Without regard to case and the kind of white space. */
export function plain(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/gu, ' ').trim();
}
