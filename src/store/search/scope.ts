import type { Fragment, Queries } from '../database.ts';
import { numbersOf } from './numbers-in-a-row.ts';

/** What a search looks through. */
export interface SearchedScope {
  /** `null` for all conversations of the agent. */
  readonly conversationId: string | null;
  readonly agent: string;
  readonly agentNumber: number;
  /** Blocks of its passages, ascending; of an agent the newest, and older ones that have rare words of the query. */
  readonly blocks: readonly number[];
  /** The first of the newest blocks, where an agent has older ones as well; `null`: all are in `blocks`. */
  readonly newestFrom: number | null;
  /** Blocks that all passages are in; where an agent has older ones than `blocks`, as many as there are if they are as full as the newest. */
  readonly allBlocks: number;
  /** Conversations whose statistics stand for all: the largest ones. */
  readonly numbers: readonly number[];
  readonly passages: number;
  /** Passages of the conversations in `numbers`. */
  readonly countedPassages: number;
  /** Words of a passage on average. */
  readonly averageWords: number;
  /** Of all conversations in scope. */
  readonly languages: readonly string[];
  /** pg_trgm is installed. Asked with the scope: a query of its own would be another way to the server and back. */
  readonly hasTrigrams: boolean;
  /** The conversation has branches; of an agent, some of them may. Asked with the scope, too. */
  readonly hasBranches: boolean;
}

/** Conversations of an agent whose statistics are read: more change the weights little and take longer. */
const COUNTED_CONVERSATIONS = 100;
/** Blocks of an agent that are searched for any word, the newest: each costs a row for each word of the query. */
const MOST_BLOCKS = 10_000;
/** Of the newest blocks so many show how full they are. */
const COUNTED_BLOCKS = 500;

interface ProgressRow {
  readonly agent: string;
  readonly agent_number: number;
  readonly number: number;
  readonly passages: number;
  readonly words: string;
  readonly languages: string[];
  readonly has_trigrams: boolean;
}

function hasTrigrams(sql: Queries): Fragment {
  return sql`exists (select from pg_extension where extname = 'pg_trgm') as has_trigrams`;
}

interface BranchedRow {
  readonly is_behind: boolean;
  readonly has_branches: boolean;
  readonly blocks: number[];
}

/**
 * One conversation; `null` when there is none of that id or nothing of it is indexed. `isBehind`: it has what
 * is not indexed.
 */
export async function conversationScope(
  sql: Queries,
  conversationId: string,
): Promise<{ readonly scope: SearchedScope | null; readonly isBehind: boolean }> {
  const [row] = await sql<(ProgressRow & BranchedRow)[]>`
    select c.agent, a.number as agent_number, p.number, p.passages, p.words, p.languages, ${hasTrigrams(sql)},
      c.last_sequence > coalesce(p.through_sequence, 0) or c.compactions > coalesce(p.through_compaction, 0) as is_behind,
      exists (select from branches f where f.conversation_id = c.id and f.branch > 0) as has_branches,
      array(select b.number from search_blocks b where b.conversation_number = p.number order by 1) as blocks
    from conversations c left join search_progress p on p.conversation_id = c.id
      left join search_agents a on a.agent = c.agent
    where c.id = ${conversationId}`;
  if (row === undefined) return { scope: null, isBehind: false };
  const isEmpty = row.passages === null || row.passages === 0;
  return {
    scope: isEmpty
      ? null
      : toScope([row], {
          ...row,
          conversationId,
          newestFrom: null,
          allBlocks: row.blocks.length,
          hasBranches: row.has_branches,
        }),
    isBehind: row.is_behind,
  };
}

/** All conversations of an agent; `null` when nothing of them is indexed. What it reads has a bound, however many they are. */
export async function agentScope(sql: Queries, agent: string, mostBlocks = MOST_BLOCKS): Promise<SearchedScope | null> {
  const [rows, [found]] = await Promise.all([
    sql<(ProgressRow & { readonly total: string; readonly all_languages: string[] })[]>`
      select a.agent, a.number as agent_number, p.number, p.passages, p.words, p.languages, ${hasTrigrams(sql)},
        a.passages as total, a.languages as all_languages
      from search_agents a cross join lateral (
        select s.number, s.passages, s.words, s.languages from search_progress s
        where s.agent_number = a.number and s.passages > 0
        order by s.passages desc, s.number limit ${COUNTED_CONVERSATIONS}) p
      where a.agent = ${agent} order by p.passages desc, p.number`,
    newestBlocks(sql, agent, mostBlocks + 1),
  ]);
  const [largest] = rows;
  if (largest === undefined) return null;
  const blocks = numbersOf(found?.numbers ?? null);
  const newest = blocks.slice(-mostBlocks);
  const hasOlder = blocks.length > mostBlocks;
  const passages = Number(largest.total);
  const inBlock = Math.max(1, found?.passages_of_block ?? 1);
  const scope = toScope(rows, {
    conversationId: null,
    blocks: newest,
    newestFrom: hasOlder ? (newest[0] ?? null) : null,
    allBlocks: hasOlder ? Math.max(blocks.length, Math.round(passages / inBlock)) : blocks.length,
    passages,
    hasBranches: true,
  });
  return { ...scope, languages: [...new Set([...scope.languages, ...largest.all_languages])] };
}

/** In one row: ten thousand of their own would take as long as all else that a search reads. */
function newestBlocks(
  sql: Queries,
  agent: string,
  most: number,
): Promise<readonly { readonly numbers: string | null; readonly passages_of_block: number | null }[]> {
  const ofAgent = sql`agent_number = (select a.number from search_agents a where a.agent = ${agent})`;
  return sql<{ numbers: string | null; passages_of_block: number | null }[]>`
    select
      (select string_agg(number::text, ',' order by number) from (
        select number from search_blocks where ${ofAgent} order by number desc limit ${most}) as newest) as numbers,
      (select avg(passages)::float8 from (
        select passages from search_blocks where ${ofAgent} order by number desc limit ${COUNTED_BLOCKS}) as filled) as passages_of_block`;
}

function toScope(
  rows: readonly ProgressRow[],
  scope: Pick<SearchedScope, 'conversationId' | 'blocks' | 'newestFrom' | 'allBlocks' | 'passages' | 'hasBranches'>,
): SearchedScope {
  const countedPassages = rows.reduce((sum, row) => sum + row.passages, 0);
  const words = rows.reduce((sum, row) => sum + Number(row.words), 0);
  return {
    conversationId: scope.conversationId,
    agent: rows[0]?.agent ?? '',
    agentNumber: rows[0]?.agent_number ?? 0,
    blocks: scope.blocks,
    newestFrom: scope.newestFrom,
    allBlocks: scope.allBlocks,
    hasBranches: scope.hasBranches,
    numbers: rows.map(({ number }) => number),
    passages: scope.passages,
    countedPassages,
    averageWords: Math.max(1, words / countedPassages),
    languages: [...new Set(rows.flatMap(({ languages }) => languages))],
    hasTrigrams: rows[0]?.has_trigrams ?? false,
  };
}
