import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Fragment, Queries } from '../database/database.ts';
import { interruptTurn, raiseEpoch, setActiveTurn } from '../turns/open-work.ts';
import type { CloseToolCall } from '../attempts/tool-call-rows.ts';
import { writeLocked } from '../database/transaction.ts';

const DEFAULT_LIMIT = 100;

export interface WaitingRequest {
  readonly taskQueue: string;
  /** Younger rows are not looked at: their senders ring for them. */
  readonly olderThanSeconds: number;
  readonly limit?: number;
  readonly except?: readonly string[];
}

/**
 * Conversations with rows that wait for longer than `olderThanSeconds` although ringing would help: no turn is
 * open, or a stop waits beside an open one, or a person decided on a call that did not run since, or the
 * time to decide on one is over, which its turn notices late where the clock of Postgres is ahead of Temporal's. Longest wait first.
 * One for which upkeep rang is among them again when something came since, else after 20 s, and twice as long each time, up to an hour.
 */
export async function findWaitingConversations(
  sql: Database,
  { taskQueue, olderThanSeconds, limit, except = [] }: WaitingRequest,
): Promise<{ readonly conversationId: string }[]> {
  // Decisions from the few turns that are open, so that those of ended ones are not read.
  return sql<{ conversationId: string }[]>`
    select w.conversation_id from (
      select m.conversation_id, m.created_at as since from messages m join conversations c on c.id = m.conversation_id
      where m.consumed_at is null and (c.active_turn_id is null or m.kind = 'stop')
      union all
      select d.conversation_id, d.decided_at from turns o join decisions d on d.turn_id = o.id
      join tool_calls t on (t.conversation_id, t.turn_id, t.call_number, t.call_index)
        = (d.conversation_id, d.turn_id, d.call_number, d.call_index)
      where o.outcome is null and t.state = 'requested' and d.state <> 'waiting' and not exists (
        select from decisions w where w.conversation_id = d.conversation_id and w.state = 'waiting')
      union all
      select conversation_id, expires_at from decisions where state = 'waiting' and expires_at <= holdfast_now()
    ) as w join conversations c on c.id = w.conversation_id
    where c.task_queue = ${taskQueue} and ${isPast(sql, sql`w.since`, olderThanSeconds)}
      and (c.rung_at is null or c.rung_at > holdfast_now() + interval '1 minute'
        or (w.since > c.rung_at and w.since <= holdfast_now())
        or c.rung_at + make_interval(secs => least(10 * 2 ^ least(c.rings, 9), 3600)) <= holdfast_now())
      and w.conversation_id <> all(${[...except]}::uuid[])
    group by w.conversation_id order by min(w.since) limit ${limit ?? DEFAULT_LIMIT}`;
}

export async function noteRing(sql: Database, conversationId: string): Promise<void> {
  await sql`
    update conversations set rung_at = holdfast_now(), rings = rings + 1
    where id = (select id from conversations where id = ${conversationId} for no key update skip locked)`;
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
  return sql<OpenTurn[]>`
    select json_build_object('conversationId', t.conversation_id, 'turnId', t.id, 'epoch', t.epoch) as turn,
      t.workflow_id, t.run_id
    from turns t join conversations c on c.id = t.conversation_id
    where t.outcome is null and c.task_queue = ${request.taskQueue}
      and ${isPast(sql, sql`t.begun_at`, request.olderThanSeconds)}
    order by case when t.looked_at <= holdfast_now() then t.looked_at end nulls first, t.begun_at limit ${request.limit ?? DEFAULT_LIMIT}`;
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
  return writeLocked(sql, conversationId, async ({ sql: open, writer, conversation }) => {
    if (conversation?.epoch !== turn.epoch || conversation.activeTurnId !== turnId) return false;
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
  return sql<{ conversationId: string }[]>`
    select c.id as conversation_id from conversations c left join search_progress p on p.conversation_id = c.id
    where c.is_unindexed and c.task_queue = ${request.taskQueue}
    order by c.last_sequence - coalesce(p.through_sequence, 0) desc limit ${request.limit ?? DEFAULT_LIMIT}`;
}

/**
 * Whether a time lies at least so long ago. One that is over a minute in the future counts as past: the clock stepped back since, and
 * nothing should wait until it is there again. Less than that may be a statement that waited for the lock of another.
 * @param seconds up to now
 */
export function isPast(sql: Queries, time: Fragment, seconds: number): Fragment {
  return sql`(${time} not between holdfast_now() - make_interval(secs => ${seconds}) and holdfast_now() + interval '1 minute')`;
}
