import type { TurnReference } from '../../turn/turn-reference.ts';
import { isPast } from '../database/past.ts';
import type { Database, Fragment, Queries } from '../database/database.ts';
import { interruptTurn, raiseEpoch, setActiveTurn } from '../turns/open-work.ts';
import type { CloseToolCall } from '../attempts/tool-call-rows.ts';
import { writeEvents } from '../database/transaction.ts';

/** Rows of one look of upkeep, unless it asks for another number. */
const DEFAULT_LIMIT = 100;

export interface WaitingRequest {
  /** Only conversations of this queue. */
  readonly taskQueue: string;
  /** Younger rows are not looked at: their senders ring for them. */
  readonly olderThanSeconds: number;
  readonly limit?: number;
  /** Conversations that are left out. */
  readonly except?: readonly string[];
}

/** A row for which ringing would help: no turn is open, or it is a stop. All else an open turn takes by itself. */
function isTaken(sql: Queries): Fragment {
  return sql`m.consumed_at is null and is_ring_due(m.rung_at, m.rings)
    and (c.active_turn_id is null or m.kind = 'stop')`;
}

/** From the few turns that are open, so that decisions of ended ones are not read. */
function decisionsOfOpenTurns(sql: Queries): Fragment {
  return sql`turns o join decisions d on d.turn_id = o.id
    join tool_calls t on (t.conversation_id, t.turn_id, t.call_number, t.call_index)
      = (d.conversation_id, d.turn_id, d.call_number, d.call_index)
    where o.outcome is null`;
}

/** A person decided on a call, of a turn `o` that is open, that did not run since. */
function isDecided(sql: Queries): Fragment {
  return sql`t.state = 'requested' and d.state <> 'waiting' and is_ring_due(d.rung_at, d.rings) and not exists (
    select from decisions w where w.conversation_id = d.conversation_id and w.state = 'waiting')`;
}

/** Nobody decided in time, and the turn has not noticed: the clock of Postgres is ahead of Temporal's timer. */
function isOverdue(sql: Queries): Fragment {
  return sql`d.state = 'waiting' and d.expires_at <= holdfast_now() and is_ring_due(d.rung_at, d.rings)`;
}

/**
 * Conversations with rows that wait for longer than `olderThanSeconds` although ringing would help: no turn is
 * open, or a stop waits beside an open one, or a person decided on a call that did not run since, or the
 * time to decide on one is over. Longest wait first.
 * A row for which upkeep rang is not among them until a pause is over that grows with each ring (`noteRing`).
 */
export async function findWaitingConversations(
  sql: Database,
  { taskQueue, olderThanSeconds, limit, except = [] }: WaitingRequest,
): Promise<{ readonly conversationId: string }[]> {
  const rows = await sql<{ conversation_id: string }[]>`
    select w.conversation_id from (
      select m.conversation_id, m.created_at as since from messages m join conversations c on c.id = m.conversation_id
      where ${isTaken(sql)}
      union all
      select d.conversation_id, d.decided_at from ${decisionsOfOpenTurns(sql)} and ${isDecided(sql)}
      union all
      select d.conversation_id, d.expires_at from decisions d where ${isOverdue(sql)}
    ) as w join conversations c on c.id = w.conversation_id
    where c.task_queue = ${taskQueue} and ${isPast(sql, sql`w.since`, olderThanSeconds)}
      and w.conversation_id <> all(${[...except]}::uuid[])
    group by w.conversation_id order by min(w.since) limit ${limit ?? DEFAULT_LIMIT}`;
  return rows.map((row) => ({ conversationId: row.conversation_id }));
}

/**
 * Notes that a ring for the conversation arrived, on the rows for which it was rung: what stays because its turn waits for a
 * person is rung for less and less often. Rows that something else holds at this moment are left out.
 */
export async function noteRing(
  sql: Database,
  { conversationId, olderThanSeconds }: { readonly conversationId: string; readonly olderThanSeconds: number },
): Promise<void> {
  const isOld = (since: Fragment): Fragment => isPast(sql, since, olderThanSeconds);
  await sql`
    with taken as (
      select m.id from messages m join conversations c on c.id = m.conversation_id
      where m.conversation_id = ${conversationId} and ${isOld(sql`m.created_at`)} and ${isTaken(sql)}
      for no key update of m skip locked),
    decided as (
      select d.turn_id, d.call_number, d.call_index
      from ${decisionsOfOpenTurns(sql)} and o.conversation_id = ${conversationId}
        and ((${isOld(sql`d.decided_at`)} and ${isDecided(sql)}) or (${isOld(sql`d.expires_at`)} and ${isOverdue(sql)}))
      for no key update of d skip locked),
    noted as (
      update decisions d set rung_at = holdfast_now(), rings = d.rings + 1 from decided
      where (d.turn_id, d.call_number, d.call_index) = (decided.turn_id, decided.call_number, decided.call_index))
    update messages m set rung_at = holdfast_now(), rings = m.rings + 1 from taken
    where m.conversation_id = ${conversationId} and m.id = taken.id`;
}

export interface OpenTurn {
  readonly turn: TurnReference;
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Open turns that began longer than `olderThanSeconds` ago, with the workflow that should be working on them: those that upkeep
 * never looked at first, or of which nobody knows when, then those it looked at longest ago.
 */
export async function findOpenTurns(
  sql: Database,
  request: { readonly taskQueue: string; readonly olderThanSeconds: number; readonly limit?: number },
): Promise<OpenTurn[]> {
  const rows = await sql<{ id: string; conversation_id: string; epoch: number; workflow_id: string; run_id: string }[]>`
    select t.id, t.conversation_id, t.epoch, t.workflow_id, t.run_id
    from turns t join conversations c on c.id = t.conversation_id
    where t.outcome is null and c.task_queue = ${request.taskQueue}
      and ${isPast(sql, sql`t.begun_at`, request.olderThanSeconds)}
    order by case when t.looked_at <= holdfast_now() then t.looked_at end nulls first, t.begun_at limit ${request.limit ?? DEFAULT_LIMIT}`;
  return rows.map((row) => ({
    turn: { conversationId: row.conversation_id, turnId: row.id, epoch: row.epoch },
    workflowId: row.workflow_id,
    runId: row.run_id,
  }));
}

/** Puts turns at the end of the rotation in which upkeep looks at them. One that is being written to keeps its place: it lives. */
export async function noteLooks(sql: Database, turnIds: readonly string[]): Promise<void> {
  await sql`
    update turns t set looked_at = holdfast_now()
    from (
      select id from turns where id = any(${[...turnIds]}::uuid[]) and outcome is null
      for no key update skip locked) as looked
    where t.id = looked.id`;
}

/**
 * Temporal no longer knows the turn's workflow: ends it as `interrupted`, closes its open tool calls
 * and raises the epoch, so that a worker that still believes in it cannot write. `false` when the
 * turn was ended or taken over meanwhile.
 */
export async function markInterrupted(
  sql: Database,
  turn: TurnReference,
  closeToolCall: CloseToolCall,
): Promise<boolean> {
  const { conversationId, turnId } = turn;
  return writeEvents(sql, conversationId, async ({ sql: open, writer }) => {
    const [conversation] = await open<{ epoch: number; active_turn_id: string | null }[]>`
      select epoch, active_turn_id from conversations where id = ${conversationId} for no key update`;
    if (conversation?.epoch !== turn.epoch || conversation.active_turn_id !== turnId) return false;
    const owner: TurnReference = { ...turn, epoch: await raiseEpoch(open, conversationId) };
    await interruptTurn(writer(owner), { turnId, reason: 'workflow_lost', closeToolCall });
    await setActiveTurn(open, turn, null);
    return true;
  });
}

/** Conversations of a queue whose search index may be behind, most behind first. One that is whole after all costs its indexing a look. */
export async function findUnindexedConversations(
  sql: Database,
  request: { readonly taskQueue: string; readonly limit?: number },
): Promise<{ readonly conversationId: string }[]> {
  const rows = await sql<{ id: string }[]>`
    select c.id from conversations c left join search_progress p on p.conversation_id = c.id
    where c.is_unindexed and c.task_queue = ${request.taskQueue}
    order by c.last_sequence - coalesce(p.through_sequence, 0) desc limit ${request.limit ?? DEFAULT_LIMIT}`;
  return rows.map((row) => ({ conversationId: row.id }));
}
