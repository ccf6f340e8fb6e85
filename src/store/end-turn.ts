import type { WindowBreakdown } from '../context/plan.ts';
import type { InboxLook } from '../turn/activity-values.ts';
import type { TurnOutcome, TurnReference } from '../turn/turn-reference.ts';
import { endBranchCommand } from './change-branch.ts';
import type { Database } from './database.ts';
import { appendStoppedMessages, consumeCommands, countInbox, staleEpoch } from './inbox.ts';
import type { ContextUsage } from './open-work.ts';
import { abandonCompaction, closeToolCalls, finishTurn, raiseEpoch, setActiveTurn } from './open-work.ts';
import { countRecoveries } from './overflow-recoveries.ts';
import { jsonText } from './stored-text.ts';
import type { CloseToolCall } from './tool-call-rows.ts';
import { writeAsTurn } from './transaction.ts';

export interface EndTurnRequest {
  readonly turn: TurnReference;
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
  /** What fills the window, for `context_exhausted`. */
  readonly breakdown: WindowBreakdown | null;
  readonly contextUsage?: ContextUsage | null;
}

export interface EndedTurn {
  /** The outcome that stands: the first one stored. */
  readonly outcome: TurnOutcome;
  /** Looked up by each call, never stored: what waits for the next turn. */
  readonly waiting: InboxLook;
}

/**
 * Ends the turn once: stores outcome and reason, closes open tool calls with a result that says so,
 * abandons a planned compaction, consumes the stops that were meant for it. Repeating it changes nothing.
 * @throws StoreError `stale_epoch` (another turn ended this one as `interrupted`)
 */
export async function endTurn(
  sql: Database,
  request: EndTurnRequest,
  closeToolCall: CloseToolCall,
): Promise<EndedTurn> {
  const { turn } = request;
  const [stored] = await sql<{ outcome: TurnOutcome | null; epoch: number }[]>`
    select t.outcome, c.epoch from turns t join conversations c on c.id = t.conversation_id where t.id = ${turn.turnId}`;
  const endedBefore = stored?.outcome ?? null;
  if (endedBefore === 'interrupted') throw staleEpoch(turn, stored?.epoch);
  const outcome = endedBefore ?? (await end(sql, request, closeToolCall));
  return { outcome, waiting: await countInbox(sql, turn.conversationId) };
}

async function end(sql: Database, request: EndTurnRequest, closeToolCall: CloseToolCall): Promise<TurnOutcome> {
  const { turn, outcome, reason, breakdown, contextUsage = null } = request;
  const { conversationId, turnId } = turn;
  return writeAsTurn(sql, turn, async (writer) => {
    // Looked at again under the lock: two calls may end the turn at the same time.
    const [row] = await writer.sql<{ outcome: TurnOutcome | null; command_only: boolean }[]>`
      select outcome, command_only from turns where id = ${turnId}`;
    if (row === undefined) throw staleEpoch(turn, writer.conversation.epoch);
    if (row.outcome !== null) return row.outcome;
    await closeToolCalls(writer, outcome === 'stopped' ? 'stopped' : 'turn_ended', closeToolCall);
    await abandonCompaction(writer, `turn_${outcome}`);
    if (outcome === 'stopped') await appendStoppedMessages(writer);
    await consumeCommands(writer.sql, { conversationId, kind: 'stop', turnId });
    // A command that had a turn of its own was served by it, whatever came of it; another would begin forever.
    if (row.command_only && !(await endBranchCommand(writer, outcome)))
      await consumeCommands(writer.sql, { conversationId, kind: 'compact', turnId });
    if (reason === 'second_overflow') {
      const tokens = breakdown?.total ?? null;
      const recoveries = await countRecoveries(writer.sql, turn);
      const data = { reason: 'overflow', failure: 'second_overflow', tokens, recoveries, ...breakdown };
      await writer.event('compaction_exhausted', data);
    }
    const breakdownText = breakdown === null ? null : jsonText(breakdown);
    await finishTurn(writer, { turnId, outcome, reason, breakdown: breakdownText, contextUsage });
    await setActiveTurn(writer.sql, turn, null);
    // What still runs for this turn, on a worker that was cut off, finds itself too old to write.
    await raiseEpoch(writer.sql, conversationId);
    return outcome;
  });
}
