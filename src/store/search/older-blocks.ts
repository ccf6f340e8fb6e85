import type { Queries } from '../database.ts';
import { MOST_POSTINGS, choosingTerms } from './choosing-terms.ts';
import { numbersOf } from './numbers-in-a-row.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** Older blocks that are searched beside the newest ones, the newest of them. */
export const MOST_OLDER_BLOCKS = 10_000;

/**
 * With the older blocks of an agent that have words of the query which few passages have: however long ago it was said, a name is
 * found. Of a word that more passages have than one search reads the newest blocks are read.
 * @param mostOfWord passages that a word may have to be looked up in older blocks. Default: as many as one search reads
 */
export async function withOlderBlocks(
  sql: Queries,
  scope: SearchedScope,
  terms: readonly WeightedTerm[],
  mostOfWord = MOST_POSTINGS,
): Promise<SearchedScope> {
  if (scope.newestFrom === null) return scope;
  const budget = { postings: MOST_POSTINGS, rows: MOST_POSTINGS, blocks: scope.allBlocks };
  const telling = choosingTerms(terms, budget).flatMap((index) => terms[index] ?? []);
  const sought = telling.filter(({ passages }) => passages <= mostOfWord).flatMap((term) => term.terms);
  if (sought.length === 0) return scope;
  const [found] = await sql<{ blocks: string | null }[]>`
    select string_agg(block::text, ',' order by block) as blocks from (
      select distinct block from search_postings
      where agent_number = ${scope.agentNumber} and term = any(${sought}::text[]) and block < ${scope.newestFrom}
      order by block desc limit ${MOST_OLDER_BLOCKS}) as older`;
  return { ...scope, blocks: [...numbersOf(found?.blocks ?? null), ...scope.blocks] };
}
