import type { Database } from '../database/database.ts';
import type { SearchedScope } from './scope.ts';
import { foldAccents, isUnspacedCharacter } from './words.ts';

/** Shorter words are like too many others. Characters. */
const SHORTEST_WORD = 3;
/** Below this similarity of pg_trgm two words are strangers. Six letters with one left out have 4 of 9 trigrams in common. */
const SMALLEST_SIMILARITY = 0.44;
/** What a word counts that holds the one asked for as a part: of an identifier, a hash or a compound. */
const SIMILARITY_OF_PART = 0.6;
/** A word begins or ends with it; shorter ones do so by chance. Characters. */
const SHORTEST_PART = 5;
/** Words that one word may stand for. */
const MOST_SIMILAR = 5;
/** Pairs that one Chinese character may stand for. */
const MOST_PAIRS = 100;

interface SimilarWords {
  readonly terms: readonly string[];
  readonly frequency: number;
  /** How much alike they are. */
  readonly share: number;
}

/** Words of the agent's passages that a word may be meant for which none of them has: of like letters, or with it as a part. */
export async function similarWords(
  sql: Database,
  { tenant, agent }: SearchedScope,
  { word, terms }: { readonly word: string; readonly terms: readonly string[] },
): Promise<SimilarWords> {
  const isCharacter = isUnspacedCharacter(word);
  if (!isCharacter && word.length < SHORTEST_WORD) return { terms: [], frequency: 0, share: 0 };
  const letters = foldAccents(word);
  const stem = terms[0] ?? letters;
  const part = `%${letters.replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
  // "art" in "apartment" is chance, and in `retry_art` it is not.
  const isPart = isCharacter
    ? sql`true`
    : sql`(f.term ~ '[0-9_./:@-]' or ${letters.length >= SHORTEST_PART} and (
        starts_with(f.term, ${letters}) or right(f.term, ${letters.length}) = ${letters}))`;
  const rows = await sql<{ term: string; passages: number; similarity: number }[]>`
    with swapped as materialized (
      select coalesce((ts_lexize('english_stem', w))[1], w) as term from unnest(${swapped(letters)}::text[]) as w)
    select term, passages, similarity from (
      select f.term, f.passages, case when f.term like ${part} and ${isPart} then ${SIMILARITY_OF_PART}::float8
        when f.term in (select s.term from swapped s) then 1::float8
        else greatest(similarity(f.term, ${stem}), similarity(f.term, ${letters}))::float8 end as similarity
      from term_frequencies f
      where f.tenant = ${tenant} and f.agent = ${agent} and f.term !~ '^@' and f.passages > 0 and (f.term like ${part}
        ${isCharacter ? sql`` : sql`or f.term % ${stem} or f.term % ${letters} or f.term in (select s.term from swapped s)`})
        and ts_lexize('english_stem', f.term) is distinct from '{}') as l
    where similarity >= ${SMALLEST_SIMILARITY}
    order by similarity desc, passages desc, term limit ${isCharacter ? MOST_PAIRS : MOST_SIMILAR}`;
  return {
    terms: rows.map(({ term }) => term),
    frequency: rows.reduce((sum, { passages }) => sum + passages, 0),
    share: rows[0]?.similarity ?? 0,
  };
}

/** The word with two neighbouring letters in the other order. */
function swapped(word: string): string[] {
  return Array.from(
    { length: word.length - 1 },
    (_, at) => `${word.slice(0, at)}${word.charAt(at + 1)}${word.charAt(at)}${word.slice(at + 2)}`,
  );
}
