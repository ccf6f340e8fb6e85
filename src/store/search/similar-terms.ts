import type { Database, Fragment, Queries } from '../database.ts';
import { withoutTableScans } from '../without-table-scans.ts';
import { isEmoji } from './emoji.ts';
import { knowsLetters, wordsOfLikeLetters } from './like-letters.ts';
import type { LikeWord } from './like-letters.ts';
import type { QueryTerm } from './query-terms.ts';
import type { SearchedScope } from './scope.ts';
import { wordsOfSwappedLetters } from './swapped-letters.ts';
import type { CountedWord } from './swapped-letters.ts';
import { countPassages, isCountedInPart, rarity } from './weigh-terms.ts';
import type { WeightedTerm } from './weigh-terms.ts';
import { isUnspacedCharacter } from './words.ts';

/** Shorter words are like too many others. Characters. */
const SHORTEST_WORD = 3;
/** Below this likeness of letters (pg_trgm's similarity) two words are strangers. */
const SMALLEST_SIMILARITY = 0.4;
/** A word that so few passages have may be misspelt … */
const MOST_OF_MISSPELT = 2;
const SHORTEST_MISSPELT = 5;
/** … for one that is as much alike and stands in so many times as many. */
const SIMILARITY_OF_MEANT = 0.5;
const TIMES_AS_MANY = 5;
/** What is meant stands for the word without taking its place in the query. */
const BESIDE_THE_WORD = { isRelated: true, position: -1 } as const;
/** What holds a word as a part of an identifier is as much alike as this; its letters say less: the rest of the identifier is longer. */
const SIMILARITY_OF_PART = 0.7;
/** A plain word that begins or ends with another of so many letters ("supermarket"); "art" in "apartment" is chance. */
const SHORTEST_PART_OF_WORD = 5;
const SIMILARITY_OF_PART_OF_WORD = 0.5;
/** Words that one word may stand for. */
const MOST_SIMILAR = 5;
/** Pairs of characters that one character may stand for: those that hold it. */
const MOST_PAIRS = 100;

/** Whether a word that stands somewhere may be another, misspelt: who mistypes a question may find nothing but the question. */
export function mayBeMisspelt({ word, passages, isDate, isStopWord }: WeightedTerm): boolean {
  const isWord = !isDate && !isStopWord && /^\p{L}+$/u.test(word);
  return isWord && word.length >= SHORTEST_MISSPELT && passages <= MOST_OF_MISSPELT;
}

/**
 * Words of the conversation that a word, which it does not have, may be meant for: words that contain
 * it, and words of like letters; where there are none, such with two letters in the other order. Without pg_trgm, words that begin with it, or like it. For a word that it has, only such as
 * are much more frequent.
 * @param passagesOf how many passages have a word, where any has it
 */
export async function similarTerms(
  sql: Database,
  scope: SearchedScope,
  words: readonly QueryTerm[],
  passagesOf: ReadonlyMap<string, number>,
): Promise<WeightedTerm[]> {
  const asked = words.filter(
    ({ word, isDate, isStopWord }) =>
      !isDate && !isStopWord && !isEmoji(word) && (word.length >= SHORTEST_WORD || isUnspacedCharacter(word)),
  );
  if (asked.length === 0) return [];
  // Postgres takes a comparison of trigrams for as cheap as one of numbers and reads all words, at 120 ms for 35,000; their index takes 5.
  const found = await withoutTableScans(sql, async (open) => {
    const alike = await Promise.all(
      asked.map(async (term) => ({ term, like: await lookUp(open, { ...scope, pool: sql }, term) })),
    );
    const nowhere = alike.filter(({ term, like }) => like.length === 0 && !passagesOf.has(term.word));
    const swapped = await wordsOfSwappedLetters(
      open,
      scope,
      nowhere.map(({ term }) => term),
    );
    return alike.map(({ term, like }) => ({ term, like: swapped.get(term.word) ?? like }));
  });
  return found.flatMap(({ term, like: alike }) => {
    const own = passagesOf.get(term.word) ?? 0;
    const like = own === 0 || isUnspacedCharacter(term.word) ? alike : alike.filter((each) => isMeant(each, own));
    if (like.length === 0) return [];
    const passages = Math.min(
      scope.passages,
      like.reduce((sum, each) => sum + each.passages, 0),
    );
    const weight = rarity(passages, scope.passages) * Math.max(...like.map(({ similarity }) => similarity));
    return [
      {
        ...term,
        terms: like.map((each) => each.term),
        passages,
        weight,
        isSimilar: true,
        ...(own > 0 && BESIDE_THE_WORD),
      },
    ];
  });
}

function isMeant({ similarity, passages }: CountedWord, own: number): boolean {
  return similarity >= SIMILARITY_OF_MEANT && passages >= TIMES_AS_MANY * own;
}

interface LookedUpScope extends SearchedScope {
  readonly pool: Database;
}

async function lookUp(sql: Queries, scope: LookedUpScope, { terms, word }: QueryTerm): Promise<CountedWord[]> {
  // The stem is nearest to what the index holds.
  const stem = terms.at(-1) ?? word;
  const most = isUnspacedCharacter(word) ? MOST_PAIRS : MOST_SIMILAR;
  const escaped = word.replaceAll(/[\\%_]/gu, String.raw`\$&`);
  const like = isUnspacedCharacter(word)
    ? sql`select term, 0.7::float8 as similarity from search_vocabulary where term like ${`%${stem}%`} and term <> ${stem} and char_length(term) <= ${2 * stem.length}`
    : scope.hasTrigrams
      ? sql`select term, greatest(similarity(term, ${stem}), ${likenessOfPart(sql, word, escaped)})::float8 as similarity
        from search_vocabulary where term % ${stem} or term like ${`%${escaped}%`}`
      : sql`select term, 0.7::float8 as similarity from search_vocabulary where term like ${`${escaped}%`}`;
  const isCompared = !isUnspacedCharacter(word) && !(await knowsLetters(sql, scope, stem));
  const given = isCompared ? await wordsOfLikeLetters(sql, stem, SMALLEST_SIMILARITY) : [];
  const all = given.length === 0 ? like : withGiven(sql, like, given);
  return isCountedInPart(scope) ? amongPostings(sql, scope, all, most) : amongStatistics(sql, scope, all, most);
}

/** How much alike a term is for having the word as a part. */
function likenessOfPart(sql: Queries, word: string, escaped: string): Fragment {
  const isPart = sql`term like ${`%${escaped}%`}`;
  if (!/^\p{L}+$/u.test(word)) return sql`case when ${isPart} then ${SIMILARITY_OF_PART}::float8 else 0 end`;
  const isOfIdentifier = sql`${isPart} and term ~ '[0-9_./:@-]'`;
  const ofWord =
    word.length < SHORTEST_PART_OF_WORD
      ? sql``
      : sql`when term like ${`${escaped}%`} or term like ${`%${escaped}`} then ${SIMILARITY_OF_PART_OF_WORD}::float8`;
  return sql`case when ${isOfIdentifier} then ${SIMILARITY_OF_PART}::float8 ${ofWord} else 0 end`;
}

function withGiven(sql: Queries, like: Fragment, given: readonly LikeWord[]): Fragment {
  return sql`
    select term, max(similarity) as similarity from (
      ${like} union all
      select * from unnest(${given.map(({ term }) => term)}::text[], ${given.map((each) => each.similarity)}::float8[])
        as given (term, similarity)) as either group by term`;
}

async function amongStatistics(
  sql: Queries,
  { numbers }: SearchedScope,
  like: Fragment,
  most: number,
): Promise<CountedWord[]> {
  return sql<CountedWord[]>`
    select l.term, l.similarity, sum(s.passages)::int as passages
    from (${like}) as l join search_statistics s on s.term = l.term and s.conversation_number = any(${[...numbers]}::int[])
    where l.similarity >= ${SMALLEST_SIMILARITY}
    group by l.term, l.similarity order by l.similarity desc, l.term limit ${most}`;
}

/** Where the statistics know a part of the conversations: the few that are most alike are chosen before any is counted. */
async function amongPostings(sql: Queries, scope: SearchedScope, like: Fragment, most: number): Promise<CountedWord[]> {
  const rows = await sql<LikeWord[]>`
    select l.term, l.similarity from (${like}) as l
    where l.similarity >= ${SMALLEST_SIMILARITY}
      and exists (select from search_postings p where p.agent_number = ${scope.agentNumber} and p.term = l.term)
    order by l.similarity desc, l.term limit ${most}`;
  const counts = await countPassages(
    sql,
    scope,
    rows.map(({ term }) => term),
  );
  return rows.map(({ term, similarity }) => ({ term, similarity, passages: counts.get(term) ?? 0 }));
}
