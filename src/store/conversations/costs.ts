import type { Queries } from '../database/database.ts';
import { turnNumber } from '../turns/turn-number.ts';

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

/**
 * What model calls cost since a time, the most expensive first; turns and steps in their order, of one
 * conversation only.
 */
export async function readCosts(
  sql: Queries,
  of: {
    readonly by: CostGroup;
    readonly since: Date | null;
    readonly conversationId?: string;
    /** Of whose conversations, when none is named. Default: of all tenants. */
    readonly tenant?: string;
    /** Default: all rows. */
    readonly limit?: number;
  },
): Promise<CostRow[]> {
  const { by, conversationId, tenant } = of;
  const from = of.since ?? new Date(0);
  const inOrder = by === 'turn' || by === 'step';
  const ofTenant =
    tenant === undefined
      ? sql``
      : sql`and exists (select from conversations c where c.id = t.conversation_id and c.tenant = ${tenant})`;
  const only = conversationId === undefined ? ofTenant : sql`and t.conversation_id = ${conversationId}`;
  const number = inOrder ? turnNumber(sql) : sql`0`;
  return sql<CostRow[]>`
    with calls as (
      select t.agent, ${number} as turn, m.call_number as step, m.model, m.conversation_id::text, 1 as calls, m.input_tokens,
        m.cache_read_tokens, m.cache_write_tokens, m.output_tokens, m.cost, (m.cost is null)::int as unknown,
        -- What a user stopped is not asked for again.
        m.state = 'failed' and m.failure_kind <> 'aborted' as repeated
      from model_attempts m join turns t on t.id = m.turn_id
      where m.started_at >= ${from} and m.is_paid ${only}
      union all
      -- Of turns whose tries retention deleted, what their sums hold beyond the tries that stay.
      select t.agent, ${number}, null, t.model, t.conversation_id::text, t.model_calls - rest.calls, t.input_tokens - rest.input,
        t.cache_read_tokens - rest.cache_read, t.cache_write_tokens - rest.cache_write, t.output_tokens - rest.output,
        t.cost - rest.cost, t.calls_of_unknown_cost - rest.unknown, false
      from turns t cross join lateral (
        select count(*) as calls, coalesce(sum(m.input_tokens), 0) as input, coalesce(sum(m.cache_read_tokens), 0) as cache_read,
          coalesce(sum(m.cache_write_tokens), 0) as cache_write, coalesce(sum(m.output_tokens), 0) as output,
          coalesce(sum(m.cost), 0) as cost, count(*) filter (where m.cost is null) as unknown
        from model_attempts m
        where m.conversation_id = t.conversation_id and m.turn_id = t.id and m.is_paid) rest
      where t.is_timeline_deleted and t.ended_at >= ${from} and t.model_calls > rest.calls ${only}
    ), named as (
      select *, 'turn ' || turn as turn_name, 'turn ' || turn || coalesce(', step ' || step, '') as step_name from calls
    )
    select ${sql(NAME[by])} as name, sum(calls)::int as calls, coalesce(sum(input_tokens), 0)::float8 as input,
      coalesce(sum(cache_read_tokens), 0)::float8 as "cacheRead", coalesce(sum(cache_write_tokens), 0)::float8 as "cacheWrite",
      coalesce(sum(output_tokens), 0)::float8 as output, case when sum(unknown) = 0 then coalesce(sum(cost), 0)::float8 end as cost,
      coalesce(sum(cost), 0)::float8 as "knownCost", sum(unknown)::int as "callsOfUnknownCost",
      (count(*) filter (where repeated))::int as "repeatedCalls",
      coalesce(sum(cost) filter (where repeated), 0)::float8 as "repeatedCost"
    from named group by 1
    order by ${inOrder ? sql`min(turn), min(step)` : sql`"knownCost" desc, calls desc, name`}
    limit ${of.limit ?? null}`;
}
