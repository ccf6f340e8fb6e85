import type { Candidate } from './candidate.ts';
import { termValue } from './gather.ts';
import { NamedFiles } from './paths.ts';
import { visitWords } from './passage-terms.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/**
 * A passage that may answer, with what its place among the others depends on: most of a pool is not worth reading, and each
 * column of each takes its time.
 */
export interface PooledPassage extends Pick<Candidate, 'kind' | 'path' | 'words' | 'createdAt' | 'gathered'> {
  readonly id: number;
  /** Those of its words that the query has, as Postgres writes a tsvector. */
  readonly found: string;
  /** Dates of the query that it has: they stand at no place. */
  readonly dates: readonly string[];
}

/** A passage with what its own words and those around it are worth to a query. */
export interface WordScored extends PooledPassage {
  readonly wordScore: number;
  /** Terms of the query that it has itself, or that name the file that it is of. */
  readonly matched: readonly WeightedTerm[];
}

export interface AskedWords {
  readonly terms: readonly WeightedTerm[];
  readonly averageWords: number;
  /** Indexes of terms whose worth is in `gathered`. */
  readonly chosenBy: ReadonlySet<number>;
}

/** Two words that stand side by side in the query and in the passage, of the weight of the lesser. */
const ADJACENT_SHARE = 0.3;

/** The worth of the words of each passage; the best first, summaries last, of equals the newest. */
export function scoreByWords(asked: AskedWords, pool: readonly PooledPassage[]): WordScored[] {
  const indexes = new Map<string, number[]>();
  for (const [index, { terms }] of asked.terms.entries()) {
    for (const term of terms) indexes.set(term, [...(indexes.get(term) ?? []), index]);
  }
  const files = new NamedFiles();
  const scored = pool.map((passage) => score(asked, indexes, files, passage));
  return scored.toSorted(
    (one, other) =>
      Number(one.kind === 'summary') - Number(other.kind === 'summary') ||
      other.wordScore - one.wordScore ||
      other.createdAt.getTime() - one.createdAt.getTime() ||
      other.id - one.id,
  );
}

function score(
  { terms, averageWords, chosenBy }: AskedWords,
  indexes: ReadonlyMap<string, readonly number[]>,
  files: NamedFiles,
  passage: PooledPassage,
): WordScored {
  const places = Array.from<readonly number[] | undefined>({ length: terms.length });
  const add = (term: string, at: readonly number[]): void => {
    for (const index of indexes.get(term) ?? []) {
      const before = places[index];
      places[index] = before === undefined ? at : [...new Set([...before, ...at])];
    }
  };
  visitWords(passage.found, add);
  for (const date of passage.dates) add(date, []);
  let wordScore = passage.gathered + adjacency(terms, places);
  const matched: WeightedTerm[] = [];
  // By index, here and below: an iterator's pair for each term of each passage is most of the garbage of a search.
  for (let index = 0; index < terms.length; index += 1) {
    const term = terms[index];
    const at = places[index];
    if (term === undefined) continue;
    // Who asks for a file and for what it says means both. Not in the index: there its name would be a word of all that it says.
    const isOfFile = at === undefined && mayName(term) && files.has(passage.path, term.word);
    if (at === undefined && !isOfFile) continue;
    matched.push(term);
    if (isOfFile || !chosenBy.has(index)) {
      wordScore += term.weight * termValue(Math.max(1, at?.length ?? 0), passage.words, averageWords);
    }
  }
  const { id, kind, path, words, createdAt, gathered, found, dates } = passage;
  return { id, kind, path, words, createdAt, gathered, found, dates, wordScore, matched };
}

function mayName({ isStopWord, isDate, isRelated, isSimilar }: WeightedTerm): boolean {
  return !isStopWord && !isDate && !isRelated && !isSimilar;
}

/** What words earn that stand side by side in the query and in the passage. */
function adjacency(terms: readonly WeightedTerm[], places: readonly (readonly number[] | undefined)[]): number {
  let earned = 0;
  for (let index = 0; index + 1 < terms.length; index += 1) {
    const here = places[index];
    const there = places[index + 1];
    if (here === undefined || there === undefined) continue;
    const term = terms[index];
    const next = terms[index + 1];
    if (term === undefined || next === undefined || term.isDate || next.isDate) continue;
    const distance = next.position - term.position;
    if (distance < 1 || distance > 2) continue;
    if (hasAt(here, there, distance)) earned += ADJACENT_SHARE * Math.min(term.weight, next.weight);
  }
  return earned;
}

/** Whether one of the places there lies so far behind one here. */
function hasAt(here: readonly number[], there: readonly number[], distance: number): boolean {
  for (const place of here) if (there.includes(place + distance)) return true;
  return false;
}
