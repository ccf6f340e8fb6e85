import type { TurnResult } from '../../turn/activity-values.ts';
import { NO_MEASUREMENTS } from '../../context/log/measurements.ts';
import type { WindowBreakdown } from '../../context/plan/plan.ts';
import type { TurnOutcome, TurnReference } from '../../turn/turn-reference.ts';
import { endBranchCommand } from '../conversations/change-branch.ts';
import type { BranchCommandEnd } from '../conversations/change-branch.ts';
import type { Database } from '../database/database.ts';
import { insertMessage } from '../messages/messages.ts';
import type { MessageInput } from '../messages/messages.ts';
import { consumeCommands, readWaiting, staleEpoch } from '../messages/waiting.ts';
import type { ContextUsage } from './open-work.ts';
import { abandonCompaction, closeToolCalls, finishTurn, raiseEpoch, setActiveTurn } from './open-work.ts';
import { countRecoveries } from '../compactions/fit-check.ts';
import { readStopped, takeStopped } from '../messages/stops.ts';
import { jsonText } from '../log/stored-text.ts';
import type { CloseToolCall } from '../attempts/tool-call-rows.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { Writer } from '../database/transaction.ts';

export interface EndTurnRequest {
  readonly turn: TurnReference;
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
  readonly breakdown: WindowBreakdown | null;
  readonly contextUsage?: ContextUsage | null;
  /** Temporal's own cancel came: it becomes a stop of all that waits. Default: none came. */
  readonly cancelled?: boolean;
}

export interface EndedTurn extends Omit<TurnResult, 'explanation'> {
  readonly waiting: boolean;
}

/**
 * Ends the turn once: stores outcome and reason, closes open tool calls with a result that says so,
 * abandons a planned compaction, takes the stops that were meant for it and what had been sent before them, whatever the outcome:
 * nobody who stops waits for what they sent earlier. Repeating it changes nothing. Senders lock the conversation too: a message
 * that this transaction does not see begins a turn of its own.
 * @returns `messages_waiting`, with nothing written: the turn completed, and messages wait that its next step takes
 * @throws StoreError `stale_epoch` (another turn ended this one as `interrupted`)
 */
export async function endTurn(
  sql: Database,
  request: EndTurnRequest,
  closeToolCall: CloseToolCall,
): Promise<EndedTurn | 'messages_waiting'> {
  const { turn } = request;
  const [stored] = await sql<{ outcome: TurnOutcome | null; reason: string | null; epoch: number }[]>`
    select t.outcome, t.reason, c.epoch from turns t join conversations c on c.id = t.conversation_id where t.id = ${turn.turnId}`;
  const endedBefore = stored?.outcome ?? null;
  // An interruption of its own that it wrote before, and whose report was lost, has its own reason.
  const isOwn = request.outcome === 'interrupted' && request.reason === stored?.reason;
  if (endedBefore === 'interrupted' && !isOwn) throw staleEpoch(turn, stored?.epoch);
  if (endedBefore === null && (await end(sql, request, closeToolCall)) === 'messages_waiting')
    return 'messages_waiting';
  const [ended] = await sql<Omit<EndedTurn, 'waiting'>[]>`
    select outcome, reason, steps, case when calls_of_unknown_cost = 0 then cost::float8 end as cost
    from turns where id = ${turn.turnId}`;
  if (ended === undefined) throw staleEpoch(turn, stored?.epoch);
  // Behind the end: a row that came later rings, and one ring too many only finds nothing.
  return { ...ended, waiting: (await readWaiting(sql, turn.conversationId)).isAny };
}

async function end(
  sql: Database,
  request: EndTurnRequest,
  closeToolCall: CloseToolCall,
): Promise<'ended' | 'messages_waiting'> {
  const { turn, breakdown, contextUsage = null, cancelled = false } = request;
  const { conversationId, turnId } = turn;
  return writeAsTurn(sql, turn, async (writer) => {
    // Looked at again under the lock: two calls may end the turn at the same time.
    const [row] = await writer.sql<{ outcome: TurnOutcome | null; commandOnly: boolean; compacted: boolean }[]>`
      select outcome, command_only, exists (
        select from compactions c where c.turn_id = t.id and c.status = 'committed') as compacted
      from turns t where id = ${turnId}`;
    if (row === undefined) throw staleEpoch(turn, writer.conversation.epoch);
    if (row.outcome !== null) return 'ended';
    if (cancelled) await insertMessage(writer.sql, cancelOf(turn));
    const stopped = await readStopped(writer);
    const mayGoOn = request.outcome === 'completed' && !row.commandOnly && stopped.stops.length === 0;
    if (mayGoOn && (await readWaiting(writer.sql, conversationId)).isSteered) return 'messages_waiting';
    // Settled first: on the branch that was not left, nothing of what was sent to the other one may stand.
    const change: BranchCommandEnd = row.commandOnly
      ? await endBranchCommand(writer, request.outcome, stopped.stops)
      : { kind: 'none', takenBack: 0 };
    const messages = change.kind === 'not_changed' ? [] : stopped.messages;
    const isCutShort = request.outcome === 'completed' && messages.length + change.takenBack > 0;
    const outcome = isCutShort ? 'stopped' : request.outcome;
    const reason = reasonOf(request, { ...row, outcome, isCutShort, change });
    await closeToolCalls(writer, outcome === 'stopped' ? 'stopped' : 'turn_ended', closeToolCall);
    const isGivenUp = await abandonCompaction(writer, `turn_${outcome}`);
    await takeStopped(writer, { ...stopped, messages }, { isGivenUp, tokens: contextUsage?.contextTokens ?? null });
    // A command that had a turn of its own was served by it, whatever came of it; another would begin forever. One behind a stop was not.
    if (row.commandOnly && change.kind === 'none' && stopped.stops.length === 0)
      await consumeCommands(writer.sql, { conversationId, kind: 'compact', turnId });
    if (reason === 'second_overflow') await tellSecondOverflow(writer, breakdown);
    const breakdownText = breakdown === null ? null : jsonText(breakdown);
    await finishTurn(writer, { turnId, outcome, reason, breakdown: breakdownText, contextUsage });
    await setActiveTurn(writer.sql, turn, null);
    // What still runs for this turn, on a worker that was cut off, finds itself too old to write.
    await raiseEpoch(writer.sql, conversationId);
    return 'ended';
  });
}

function cancelOf({ conversationId, turnId }: TurnReference): MessageInput {
  return {
    id: `cancel of ${turnId}`,
    conversationId,
    kind: 'stop',
    content: [],
    measurements: NO_MEASUREMENTS,
  };
}

/** Of a command that was stopped, the reason says what became of it: carried out, with nothing to do, or (`null`) not carried out. */
function reasonOf(
  { reason }: EndTurnRequest,
  ended: {
    readonly outcome: TurnOutcome;
    readonly commandOnly: boolean;
    readonly compacted: boolean;
    readonly isCutShort: boolean;
    readonly change: BranchCommandEnd;
  },
): string | null {
  if (!ended.commandOnly) return ended.isCutShort ? null : reason;
  if (ended.outcome !== 'stopped') return reason;
  if (ended.change.kind === 'changed') return 'branch_changed';
  return ended.compacted ? 'compacted' : reason;
}

async function tellSecondOverflow({ sql, turn, event }: Writer, breakdown: WindowBreakdown | null): Promise<void> {
  const tokens = breakdown?.total ?? null;
  const recoveries = await countRecoveries(sql, turn);
  await event('compaction_exhausted', {
    reason: 'overflow',
    failure: 'second_overflow',
    tokens,
    recoveries,
    ...breakdown,
  });
}
