import type { Database, Fragment, Transaction } from '../database.ts';
import { anyOf, candidateQuery } from './candidate-query.ts';
import type { PassageKind } from './found-passage.ts';
import type { Candidate } from './rank.ts';
import type { SearchedScope } from './scope.ts';
import type { WeightedTerm } from './weigh-terms.ts';

/** Passages that are ranked by all that is known of them. */
const POOL = 80;
/** The best of the pool are joined with what stands around them. */
const JOINED = 30;
/** Entries before and after. */
const NEIGHBOUR_DISTANCE = 2;

export interface SearchFilter {
  readonly kinds?: readonly PassageKind[];
  /** ISO time: only what was written at or after. */
  readonly after?: string;
  /** ISO time: only what was written before. */
  readonly before?: string;
}

interface PassageRow {
  readonly conversation_id: string;
  readonly source_id: string;
  readonly kind: PassageKind;
  readonly sequence: number | null;
  readonly tool_name: string | null;
  readonly character_offset: number;
  readonly text: string;
  readonly vector: string;
  readonly words: number;
  readonly created_at: Date;
  readonly in_pool: boolean;
}

/** The passages worth ranking, and their neighbours. */
export async function findCandidates(
  sql: Database,
  scope: SearchedScope,
  terms: readonly WeightedTerm[],
  filter: SearchFilter,
): Promise<Candidate[]> {
  const query = candidateQuery(scope, terms);
  if (query === null) return [];
  const rows = await sql.begin(async (open) => {
    // Statistics of the planner say nothing about the query's terms: it must not try to be clever.
    const [, found] = await Promise.all([
      open`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
        set_config('plan_cache_mode', 'force_custom_plan', true), set_config('max_parallel_workers_per_gather', '0', true)`,
      selectRows(open, query, scope, terms, filter),
    ]);
    return found;
  });
  return rows.map(toCandidate);
}

function selectRows(
  sql: Transaction,
  query: string,
  scope: SearchedScope,
  terms: readonly WeightedTerm[],
  filter: SearchFilter,
) {
  return sql<PassageRow[]>`
    with pool as materialized (
      select p.id, p.conversation_id, p.sequence, p.kind, row_number() over (order by r.score desc, p.id desc) as place
      from passages p cross join lateral (select ${scoreOf(sql, scope, terms)} as score offset 0) as r
      where p.terms @@ ${query}::tsquery ${matching(sql, filter)}
      order by r.score desc, p.id desc limit ${POOL}
    ), joined as (
      select n.id, false as in_pool from pool join passages n
        on n.conversation_id = pool.conversation_id
        and n.sequence between pool.sequence - ${NEIGHBOUR_DISTANCE} and pool.sequence + ${NEIGHBOUR_DISTANCE}
      where pool.place <= ${JOINED} and pool.kind in ('user', 'assistant') and n.kind in ('user', 'assistant')
        and n.character_offset = 0 ${matching(sql, filter, 'n')}
      union all select id, true from pool
    ), chosen as (
      select id, bool_or(in_pool) as in_pool from joined group by id
    )
    select p.conversation_id, p.source_id, p.kind, p.sequence, p.tool_name, p.character_offset, p.text,
      p.terms::text as vector, p.words, p.created_at, c.in_pool
    from chosen c join passages p on p.id = c.id`;
}

/** The sum of the weights of its terms, more for a short passage: what can be said without reading the text. */
function scoreOf(sql: Transaction, { averageWords }: SearchedScope, terms: readonly WeightedTerm[]): Fragment {
  const sum = terms
    .map((term): Fragment => sql`case when p.terms @@ ${anyOf(term)}::tsquery then ${term.weight}::float8 else 0 end`)
    .reduce((all, each) => sql`${all} + ${each}`);
  return sql`(${sum}) / (1 + 0.3 * p.words / ${averageWords}::float8)`;
}

function matching(sql: Transaction, { kinds, after, before }: SearchFilter, alias: 'p' | 'n' = 'p'): Fragment {
  const column = (name: string): Fragment => sql`${sql(alias)}.${sql(name)}`;
  return sql`
    ${kinds === undefined ? sql`` : sql`and ${column('kind')} = any(${[...kinds]})`}
    ${after === undefined ? sql`` : sql`and ${column('created_at')} >= ${after}`}
    ${before === undefined ? sql`` : sql`and ${column('created_at')} < ${before}`}`;
}

function toCandidate(row: PassageRow): Candidate {
  return {
    conversationId: row.conversation_id,
    sourceId: row.source_id,
    kind: row.kind,
    sequence: row.sequence,
    toolName: row.tool_name,
    offset: row.character_offset,
    text: row.text,
    vector: row.vector,
    words: row.words,
    createdAt: row.created_at,
    isHit: row.in_pool,
  };
}
