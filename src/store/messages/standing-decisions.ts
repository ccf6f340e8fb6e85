import type { Database, Fragment, Queries, Transaction } from '../database/database.ts';
import type { DecisionScope, StandingState } from './decision-rows.ts';
import { StoreError } from '../database/errors.ts';
import { readTurnNumber } from '../turns/turn-number.ts';
import { writeLocked } from '../database/transaction.ts';
import type { Writer } from '../database/transaction.ts';

interface StandingDecision {
  readonly agent: string;
  readonly rule: string;
  readonly decision: StandingState;
  readonly decidedAt: string;
}

export async function listStandingDecisions(sql: Database, tenant: string): Promise<StandingDecision[]> {
  return sql<StandingDecision[]>`
    select agent, rule, state as decision, iso_time(decided_at) as "decidedAt" from standing_decisions
    where tenant = ${tenant} order by agent, rule`;
}

/** What was just decided on the call holds for all turns of its tenant and agent, under each of its rules, in place of what stood before. */
export async function letStand(
  sql: Transaction,
  call: { readonly turnId: string; readonly callNumber: number; readonly callIndex: number },
): Promise<void> {
  await sql`
    insert into standing_decisions (tenant, agent, rule, state, decided_at, turn_id, call_number, call_index)
    select c.tenant, d.agent, r.rule, d.state, d.decided_at, d.turn_id, d.call_number, d.call_index
    from decisions d join conversations c on c.id = d.conversation_id, unnest(d.rules) as r (rule)
    where d.turn_id = ${call.turnId} and d.call_number = ${call.callNumber} and d.call_index = ${call.callIndex}
    on conflict (tenant, agent, rule) do update set (state, decided_at, turn_id, call_number, call_index)
      = (excluded.state, excluded.decided_at, excluded.turn_id, excluded.call_number, excluded.call_index)`;
}

/**
 * What stands for all turns of the agent under this rule no longer does; calls ask again.
 * @throws StoreError `decision_not_found`
 */
export async function endStandingDecision(
  sql: Database,
  standing: { readonly tenant: string; readonly agent: string; readonly rule: string },
): Promise<void> {
  const { tenant, agent, rule } = standing;
  const { count } = await sql`
    delete from standing_decisions where tenant = ${tenant} and agent = ${agent} and rule = ${rule}`;
  if (count === 0)
    throw new StoreError('decision_not_found', `no decision stands for agent ${agent} and rule "${rule}"`);
}

/**
 * What was decided before for the calls under some rules, in the turn or for the agent: of each rule the newest counts. One that
 * is denied denies the call; it is approved once all are. One that lies ahead is of a clock that stepped back since: any other is newer. `state` is null when it has to ask.
 */
function standingFor(
  sql: Queries,
  call: { readonly turnId: Fragment; readonly agent: Fragment; readonly rules: Fragment },
): Fragment {
  // The reason is the conversation's: where that was deleted, the decision stands without it.
  return sql`
    select case when bool_or(newest.state = 'denied') then 'denied' when bool_and(newest.state is not null) then 'approved' end as state,
      (array_agg(newest.content order by newest.state = 'denied' desc nulls last, newest.decided_at desc))[1] as content
    from unnest(${call.rules}) as r (rule) left join lateral (
      select state, content, decided_at from (
        select o.state, o.content::text as content, o.decided_at from decisions o
        where o.turn_id = ${call.turnId} and o.scope = 'turn' and o.state in ('approved', 'denied') and r.rule = any(o.rules)
        union all
        select s.state, made.content::text, s.decided_at
        from turns t join conversations c on c.id = t.conversation_id join standing_decisions s on s.tenant = c.tenant
          left join decisions made
            on (made.turn_id, made.call_number, made.call_index) = (s.turn_id, s.call_number, s.call_index)
        where t.id = ${call.turnId} and s.agent = ${call.agent} and s.rule = r.rule
      ) as standing
      order by decided_at > holdfast_now(), decided_at desc limit 1
    ) as newest on true`;
}

function ofRow(sql: Queries): Parameters<typeof standingFor>[1] {
  return { turnId: sql`d.turn_id`, agent: sql`d.agent`, rules: sql`d.rules` };
}

export async function findStanding(
  sql: Queries,
  { turnId, agent, rules }: { readonly turnId: string; readonly agent: string; readonly rules: readonly string[] },
): Promise<{ readonly state: StandingState; readonly content: string | null } | null> {
  const [row] = await sql<{ state: StandingState | null; content: string | null }[]>`${standingFor(sql, {
    turnId: sql`${turnId}::uuid`,
    agent: sql`${agent}::text`,
    rules: sql`${[...rules]}::text[]`,
  })}`;
  return row === undefined || row.state === null ? null : { state: row.state, content: row.content };
}

/**
 * Decides calls that wait although what stands for their agent covers them: those that waited in other conversations when a
 * person decided. Each conversation in a transaction of its own with its own lock, so that two of them never wait for each
 * other. Who decided may die in between, and a call may begin to wait just then: upkeep does this for all agents.
 * @param of only calls of this agent under one of these rules, or of the conversations of a task queue
 * @returns the conversations to ring, with the calls decided in each
 */
export async function decideCoveredCalls(
  sql: Database,
  of: { readonly agent: string; readonly rules: readonly string[] } | { readonly taskQueue: string },
): Promise<{ readonly conversationId: string; readonly decided: number }[]> {
  const covered = await sql<{ conversationId: string }[]>`
    select distinct d.conversation_id
    from decisions d cross join lateral (${standingFor(sql, ofRow(sql))}) as standing
    where d.state = 'waiting' and d.kind = 'approval' and d.expires_at > holdfast_now() and standing.state is not null
      and ${
        'taskQueue' in of
          ? sql`d.conversation_id in (select c.id from conversations c where c.task_queue = ${of.taskQueue})`
          : sql`d.agent = ${of.agent} and d.rules && ${[...of.rules]}::text[]`
      }
    order by d.conversation_id`;
  const result = [];
  for (const { conversationId } of covered) {
    const decided = await writeLocked(sql, conversationId, async ({ writer, conversation }) => {
      const { epoch = 0, activeTurnId: turnId = null } = conversation ?? {};
      return turnId === null ? 0 : applyStanding(writer({ conversationId, turnId, epoch }), 'standing');
    });
    if (decided > 0) result.push({ conversationId, decided });
  }
  return result;
}

/**
 * Decides the calls of the writer's turn that wait although what stands covers them; returns how many.
 * @param scope what their events name: that of the decision just made, or what stood before
 */
export async function applyStanding({ sql, turn, event }: Writer, scope: DecisionScope | 'standing'): Promise<number> {
  const rows = await sql<{ callNumber: number; callIndex: number; tool: string; state: StandingState }[]>`
    update decisions w set state = covered.state, scope = 'call', content = covered.content::json, decided_at = holdfast_now()
    from (
      select d.turn_id, d.call_number, d.call_index, standing.state, standing.content
      from decisions d cross join lateral (${standingFor(sql, ofRow(sql))}) as standing
      where d.turn_id = ${turn.turnId} and d.state = 'waiting' and d.kind = 'approval' and d.expires_at > holdfast_now()
        and standing.state is not null
    ) as covered
    where (w.turn_id, w.call_number, w.call_index) = (covered.turn_id, covered.call_number, covered.call_index)
    returning w.call_number, w.call_index, w.tool, w.state`;
  if (rows.length === 0) return 0;
  const number = await readTurnNumber(sql, turn.turnId);
  for (const { callNumber, callIndex, tool, state } of rows) {
    const data = { turn: number, callNumber, callIndex, name: tool, decision: state, scope };
    await event('decision_made', data);
  }
  return rows.length;
}
