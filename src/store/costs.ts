import type { Queries } from './database.ts';
import { IMPORTER } from './record-log.ts';

/** What costs are added up by; a step is a model call with its tries and the summaries made before it. */
export type CostGroup = 'agent' | 'model' | 'conversation' | 'turn' | 'step';

/** Model calls that were paid: answers, summaries, and tries whose answer was not kept. */
export interface CostRow {
  /** Name of the agent, `provider/model`, id of the conversation, `turn 2`, or `turn 2, step 5`. */
  readonly name: string;
  readonly calls: number;
  /** Tokens, cached ones included. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Dollars; `null` when the price of any call is unknown. */
  readonly cost: number | null;
  /** Dollars of the calls whose price is known. */
  readonly knownCost: number;
  readonly callsOfUnknownCost: number;
  /** Calls among them whose answer was paid and not kept, and what is known of their cost in dollars. */
  readonly repeatedCalls: number;
  readonly repeatedCost: number;
}

const NAME: Readonly<Record<CostGroup, string>> = {
  agent: 'agent',
  model: 'model',
  conversation: 'conversation_id',
  turn: 'turn_name',
  step: 'step_name',
};

interface CostColumns {
  readonly name: string;
  readonly calls: number;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
  readonly known_cost: number;
  readonly unknown: number;
  readonly repeated: number;
  readonly repeated_cost: number;
}

/**
 * What model calls cost since a time, the most expensive first; turns and steps in their order, of one
 * conversation only. A summary counts at the time of its compaction's turn.
 */
export async function readCosts(
  sql: Queries,
  of: {
    readonly by: CostGroup;
    readonly since: Date | null;
    /** Default: all conversations. */
    readonly conversationId?: string;
  },
): Promise<CostRow[]> {
  const { by, conversationId } = of;
  const from = of.since ?? new Date(0);
  const inOrder = by === 'turn' || by === 'step';
  const only = conversationId === undefined ? sql`` : sql`and t.conversation_id = ${conversationId}`;
  const turnNumber = inOrder
    ? sql`(select count(*)::int from turns e where e.conversation_id = t.conversation_id and e.epoch <= t.epoch)`
    : sql`0`;
  const rows = await sql<CostColumns[]>`
    with calls as (
      select t.agent, ${turnNumber} as turn, m.call_number as step, m.model, m.conversation_id::text, 1 as calls, coalesce(m.input_tokens, 0) as input,
        coalesce(m.cache_read_tokens, 0) as cache_read, coalesce(m.cache_write_tokens, 0) as cache_write,
        coalesce(m.output_tokens, 0) as output, coalesce(m.cost, 0) as cost, (m.cost is null)::int as unknown,
        r.repeated::int, case when r.repeated then coalesce(m.cost, 0) else 0 end as repeated_cost
      from model_calls m
      -- What a user stopped is not asked for again.
      cross join lateral (select m.entry_id is null and m.failure_kind <> 'aborted' as repeated) r
      join turns t on t.id = m.turn_id
      where m.started_at >= ${from} and m.state <> 'registered'
        and (m.input_tokens is not null or m.cost is distinct from 0) and m.view_fingerprint <> ${IMPORTER} ${only}
      union all
      select t.agent, ${turnNumber}, c.call_number, coalesce(p.model, t.model), p.conversation_id::text, p.model_calls, p.input_tokens,
        p.cache_read_tokens, p.cache_write_tokens, p.output_tokens, p.cost, p.calls_of_unknown_cost, p.lost_calls, p.lost_cost
      from compaction_parts p
      join compactions c on c.id = p.compaction_id
      join turns t on t.id = c.turn_id
      where t.begun_at >= ${from} and p.model_calls > 0 ${only}
      union all
      select t.agent, ${turnNumber}, 0, coalesce(s.model, t.model), s.conversation_id::text, s.model_calls, s.input_tokens,
        s.cache_read_tokens, s.cache_write_tokens, s.output_tokens, s.cost, s.calls_of_unknown_cost, s.lost_calls, s.lost_cost
      from branch_summaries s
      join turns t on t.id = s.turn_id
      where t.begun_at >= ${from} and s.model_calls > 0 ${only}
      union all
      select t.agent, ${turnNumber}, 0, coalesce(a.content -> 'summarizer' ->> 'model', t.model), t.conversation_id::text,
        t.lost_branch_calls, t.lost_branch_tokens, 0, 0, 0, coalesce(t.lost_branch_cost, 0),
        case when t.lost_branch_cost is null then t.lost_branch_calls else 0 end, t.lost_branch_calls - 1,
        coalesce(t.lost_branch_cost, 0) * (t.lost_branch_calls - 1) / t.lost_branch_calls
      from turns t join agent_snapshots a on a.hash = t.snapshot_hash
      where t.begun_at >= ${from} and t.lost_branch_calls > 0 ${only}
    ), named as (
      select *, 'turn ' || turn as turn_name, 'turn ' || turn || ', step ' || step as step_name from calls
    )
    select ${sql(NAME[by])} as name, sum(calls)::int as calls, sum(input)::float8 as input,
      sum(cache_read)::float8 as cache_read, sum(cache_write)::float8 as cache_write, sum(output)::float8 as output,
      sum(cost)::float8 as known_cost, sum(unknown)::int as unknown, sum(repeated)::int as repeated,
      sum(repeated_cost)::float8 as repeated_cost
    from named group by 1
    order by ${inOrder ? sql`min(turn), min(step)` : sql`known_cost desc, calls desc, name`}`;
  return rows.map(toCostRow);
}

function toCostRow(row: CostColumns): CostRow {
  return {
    name: row.name,
    calls: row.calls,
    input: row.input,
    cacheRead: row.cache_read,
    cacheWrite: row.cache_write,
    output: row.output,
    cost: row.unknown > 0 ? null : row.known_cost,
    knownCost: row.known_cost,
    callsOfUnknownCost: row.unknown,
    repeatedCalls: row.repeated,
    repeatedCost: row.repeated_cost,
  };
}
