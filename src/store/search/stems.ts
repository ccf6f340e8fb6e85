import type { Queries } from '../database.ts';
import type { Language } from './languages.ts';
import { foldAccents, foldOnlyAccents } from './words.ts';
import type { Word } from './words.ts';

/** What a dictionary of Postgres says of a word. */
export interface Stem {
  /** As it stands in the index: stem, or the word itself, without accents. */
  readonly term: string;
  /** As it stands in what an older version indexed, where that differs. */
  readonly olderTerm?: string;
  /** So common that it tells little by itself. */
  readonly isStopWord: boolean;
}

/** Words kept per process; a natural language uses some 50,000. */
const KEPT_WORDS = 100_000;

const known = new Map<string, Stem>();

/**
 * Stems by word, asked from Postgres's dictionaries once per process. Stop words keep their own form:
 * they are weighted, not dropped.
 */
export async function stemsOf(
  sql: Queries,
  language: Language,
  words: Iterable<Word>,
): Promise<ReadonlyMap<string, Stem>> {
  const stems = new Map<string, Stem>();
  const asked = new Set<string>();
  for (const { text, isPlain } of words) {
    if (stems.has(text) || asked.has(text)) continue;
    const stem = isPlain ? known.get(`${language} ${text}`) : asItIs(text);
    if (stem === undefined) asked.add(text);
    else stems.set(text, stem);
  }
  if (asked.size === 0) return stems;
  const rows = await sql<{ word: string; stem: string[] | null }[]>`
    select word, ts_lexize(${`${language}_stem`}::regdictionary, word) as stem from unnest(${[...asked]}::text[]) as word`;
  if (known.size > KEPT_WORDS) known.clear();
  for (const { word, stem } of rows) {
    const found: Stem = { ...foldedTerms(stem?.[0] ?? word), isStopWord: stem?.length === 0 };
    known.set(`${language} ${word}`, found);
    stems.set(word, found);
  }
  return stems;
}

function asItIs(word: string): Stem {
  return { ...foldedTerms(word), isStopWord: false };
}

function foldedTerms(stem: string): Pick<Stem, 'term' | 'olderTerm'> {
  const [term, olderTerm] = [foldAccents(stem), foldOnlyAccents(stem)];
  return term === olderTerm ? { term } : { term, olderTerm };
}
