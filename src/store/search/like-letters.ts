import type { Database, Queries } from '../database.ts';

/** Beginnings that words share with one that is misspelt, by the shortest word that each is for. Characters. */
const BEGINNINGS = [
  { shortest: 6, length: 3 },
  { shortest: 4, length: 2 },
];
/** Letters that a misspelt word may have more or less. */
const MOST_APART = 2;
/** Words with such a beginning that are compared, some milliseconds. */
const MOST_COMPARED = 2_000;
const MOST_ALIKE = 20;
const ASCII = /^[\0-\x7f]*$/;

export interface LikeWord {
  readonly term: string;
  readonly similarity: number;
}

/** Databases, by their pool, whose pg_trgm knows the letters of all scripts, and those whose does not. */
const knowing = new WeakMap<Database, boolean>();

/** Whether pg_trgm is there and knows the letters of a word: it goes by Postgres's locale, and of many databases that is `C`. */
export async function knowsLetters(
  sql: Queries,
  { pool, hasTrigrams }: { readonly pool: Database; readonly hasTrigrams: boolean },
  word: string,
): Promise<boolean> {
  if (!hasTrigrams || ASCII.test(word)) return hasTrigrams;
  const known = knowing.get(pool);
  if (known !== undefined) return known;
  const [row] = await sql<{ knows: boolean }[]>`select cardinality(show_trgm('я')) > 0 as knows`;
  const knows = row?.knows ?? false;
  knowing.set(pool, knows);
  return knows;
}

/** Words of any conversation that are like one by the measure of pg_trgm, without it, and without its index: so they must begin alike. */
export async function wordsOfLikeLetters(sql: Queries, word: string, least: number): Promise<readonly LikeWord[]> {
  const letters = Array.from(word);
  const beginning = BEGINNINGS.find(({ shortest }) => letters.length >= shortest);
  if (beginning === undefined) return [];
  const first = letters.slice(0, beginning.length).join('');
  const rows = await sql<{ term: string }[]>`
    select term from search_vocabulary
    where term >= ${first} and term < ${`${first}\u{10ffff}`}
      and char_length(term) between ${letters.length - MOST_APART} and ${letters.length + MOST_APART}
    order by abs(char_length(term) - ${letters.length}), term limit ${MOST_COMPARED}`;
  const own = trigramsOf(word);
  return rows
    .map(({ term }) => ({ term, similarity: similarity(own, trigramsOf(term)) }))
    .filter((each) => each.similarity >= least)
    .toSorted((one, other) => other.similarity - one.similarity)
    .slice(0, MOST_ALIKE);
}

/** As pg_trgm has them: the beginning of a word counts more than its end. */
function trigramsOf(word: string): ReadonlySet<string> {
  const letters = Array.from(`  ${word} `);
  return new Set(letters.slice(2).map((letter, at) => `${letters[at] ?? ''}${letters[at + 1] ?? ''}${letter}`));
}

function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((each) => other.has(each)).length;
  return shared / (one.size + other.size - shared);
}
