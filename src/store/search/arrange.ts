import { wordTermsOf } from './passage-terms.ts';
import { bestFirst, plain } from './rank.ts';
import type { RankedCandidate } from './rank.ts';

/** Passages of one entry that are listed: ten of one file would hide all else. */
const MOST_OF_ONE_ENTRY = 3;
/** Passages that are compared with each other. */
const COMPARED = 40;
/**
 * A newer passage updates an older one when it has the names and numbers of the query that the older one
 * has, about as much score, most of the query's words that the older one has, by weight …
 */
const SAME_SCORE = 0.55;
const SAME_QUESTION = 0.7;
/** … and when the shorter of the two shares this much of its words with the other. */
const SAME_WORDS = 0.4;
/** Sentences that are more alike than that are of the same, even when one lacks a word of the question ("born in New York City"). */
const NEARLY_SAME_WORDS = 0.6;
const SAME_QUESTION_OF_NEARLY_SAME = 0.5;

/** Folds duplicates, lifts what is newer above what it updates, and shows no entry too often. */
export function arrange(ranked: readonly RankedCandidate[]): RankedCandidate[] {
  return fewOfEach(newerFirst(foldDuplicates(ranked)));
}

/** Of passages with the same text the newest stays, at the place of the best. */
function foldDuplicates(ranked: readonly RankedCandidate[]): RankedCandidate[] {
  const byText = new Map<string, RankedCandidate>();
  for (const candidate of ranked) {
    const text = plain(candidate.text);
    const kept = byText.get(text);
    if (kept === undefined) byText.set(text, candidate);
    else if (candidate.createdAt > kept.createdAt)
      byText.set(text, { ...candidate, score: kept.score, match: kept.match });
  }
  return [...byText.values()].toSorted(bestFirst);
}

/**
 * A statement that was changed later is still found, but below the change: of two passages that say
 * nearly the same with other details, both answering the query about as well, the newer one goes first.
 */
export function newerFirst(ranked: readonly RankedCandidate[]): RankedCandidate[] {
  const compared = ranked.slice(0, COMPARED).map((candidate) => ({ candidate, words: wordsBesidesNames(candidate) }));
  const arranged: typeof compared = [];
  for (const each of compared) {
    // Right above the first that it updates.
    const place = arranged.findIndex((above) => updates(each, above));
    arranged.splice(place < 0 ? arranged.length : place, 0, each);
  }
  return [...arranged.map(({ candidate }) => candidate), ...ranked.slice(COMPARED)];
}

/** Names of the query stand in all that is compared, and say nothing of what is said of them. */
function wordsBesidesNames({ vector, matched }: RankedCandidate): ReadonlySet<string> {
  const words = new Set(wordTermsOf(vector));
  for (const { isName, terms } of matched) if (isName) terms.forEach((term) => words.delete(term));
  return words;
}

interface Compared {
  readonly candidate: RankedCandidate;
  readonly words: ReadonlySet<string>;
}

function updates(newer: Compared, older: Compared): boolean {
  const [one, other] = [newer.candidate, older.candidate];
  if (one.kind === 'summary' && other.kind !== 'summary') return false;
  if (!isNewer(one, other) || (other.match === 'phrase' && one.match !== 'phrase')) return false;
  if (one.score < SAME_SCORE * other.score) return false;
  const mine = new Set(one.matched.map(({ word }) => word));
  if (other.matched.some(({ word, isName }) => isName && !mine.has(word))) return false;
  const asked = other.matched.reduce((sum, { weight }) => sum + weight, 0);
  const answered = other.matched.reduce((sum, { word, weight }) => sum + (mine.has(word) ? weight : 0), 0);
  const alike = likeness(newer.words, older.words);
  const needed = alike >= NEARLY_SAME_WORDS ? SAME_QUESTION_OF_NEARLY_SAME : SAME_QUESTION;
  return asked > 0 && answered >= needed * asked && alike >= SAME_WORDS;
}

function isNewer(one: RankedCandidate, other: RankedCandidate): boolean {
  const later = one.createdAt.getTime() - other.createdAt.getTime();
  if (later !== 0) return later > 0;
  return one.conversationId === other.conversationId && (one.sequence ?? 0) > (other.sequence ?? 0);
}

/** Words that both have, of the words of the one that has fewer. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [less, more] = one.size < other.size ? [one, other] : [other, one];
  if (less.size === 0) return 0;
  let common = 0;
  for (const word of less) if (more.has(word)) common += 1;
  return common / less.size;
}

function fewOfEach(ranked: readonly RankedCandidate[]): RankedCandidate[] {
  const counts = new Map<string, number>();
  return ranked.filter(({ sourceId }) => {
    const count = (counts.get(sourceId) ?? 0) + 1;
    counts.set(sourceId, count);
    return count <= MOST_OF_ONE_ENTRY;
  });
}
