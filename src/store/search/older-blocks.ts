import type { Queries } from '../database.ts';
import { MOST_POSTINGS, choosingTerms } from './read-postings.ts';
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
  const telling = choosingTerms(terms).flatMap((index) => terms[index] ?? []);
  const sought = telling.filter(({ passages }) => passages <= mostOfWord).flatMap((term) => term.terms);
  if (sought.length === 0) return scope;
  const rows = await sql<{ block: number }[]>`
    select distinct block from search_postings
    where agent_number = ${scope.agentNumber} and term = any(${sought}::text[]) and block < ${scope.newestFrom}
    order by block desc limit ${MOST_OLDER_BLOCKS}`;
  return { ...scope, blocks: [...rows.map(({ block }) => block).toReversed(), ...scope.blocks] };
}
