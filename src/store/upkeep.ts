import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';
import { interruptTurn, raiseEpoch, setActiveTurn } from './open-work.ts';
import type { CloseToolCall } from './tool-call-rows.ts';
import { writeEvents } from './transaction.ts';

/** Rows of one look of upkeep, unless it asks for another number. */
const DEFAULT_LIMIT = 100;

/**
 * Conversations with rows that wait for longer than `olderThanSeconds` although ringing would help: no turn is
 * open, or a command or steering message waits beside an open one, or a person decided on a call that did not run since. Longest wait first.
 */
export async function findWaitingConversations(
  sql: Database,
  request: { readonly olderThanSeconds: number; readonly limit?: number },
): Promise<{ readonly conversationId: string }[]> {
  const rows = await sql<{ conversation_id: string }[]>`
    select w.conversation_id from (
      select m.conversation_id, m.created_at as since from messages m join conversations c on c.id = m.conversation_id
      where m.consumed_at is null and (c.active_turn_id is null or m.kind <> 'message' or m.mode = 'steer')
      union all
      select d.conversation_id, d.decided_at from tool_calls t join decisions d using (turn_id, call_number, call_index)
      where t.state = 'requested' and d.state <> 'waiting' and not exists (
        select from decisions o where o.conversation_id = d.conversation_id and o.state = 'waiting')
    ) as w
    where w.since <= holdfast_now() - make_interval(secs => ${request.olderThanSeconds})
    group by w.conversation_id order by min(w.since) limit ${request.limit ?? DEFAULT_LIMIT}`;
  return rows.map((row) => ({ conversationId: row.conversation_id }));
}

/** Open turns that began longer than `olderThanSeconds` ago, with the workflow that should be working on them, oldest first. */
export async function findOpenTurns(
  sql: Database,
  request: { readonly olderThanSeconds: number; readonly limit?: number },
): Promise<{ readonly turn: TurnReference; readonly workflowId: string; readonly runId: string }[]> {
  const rows = await sql<{ id: string; conversation_id: string; epoch: number; workflow_id: string; run_id: string }[]>`
    select id, conversation_id, epoch, workflow_id, run_id from turns
    where outcome is null and begun_at <= holdfast_now() - make_interval(secs => ${request.olderThanSeconds})
    order by begun_at limit ${request.limit ?? DEFAULT_LIMIT}`;
  return rows.map((row) => ({
    turn: { conversationId: row.conversation_id, turnId: row.id, epoch: row.epoch },
    workflowId: row.workflow_id,
    runId: row.run_id,
  }));
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

/** Conversations whose search index is behind, most behind first. */
export async function findUnindexedConversations(
  sql: Database,
  request: { readonly limit?: number },
): Promise<{ readonly conversationId: string }[]> {
  const rows = await sql<{ id: string }[]>`
    select c.id from conversations c left join search_progress p on p.conversation_id = c.id
    where c.last_sequence > coalesce(p.through_sequence, 0) or c.compactions > coalesce(p.through_compaction, 0)
    order by c.last_sequence - coalesce(p.through_sequence, 0) desc limit ${request.limit ?? DEFAULT_LIMIT}`;
  return rows.map((row) => ({ conversationId: row.id }));
}
