import type { TurnOutcome, TurnReference } from '../../turn/turn-reference.ts';
import { endLostAttempts } from '../attempts/lost-attempts.ts';
import type { Transaction } from '../database/database.ts';
import { readDecision, withdrawDecisions } from '../messages/decisions.ts';
import type { Decision } from '../messages/decisions.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { releaseAllPermits } from '../providers/permits.ts';
import { partialOutput } from '../attempts/tool-call-rows.ts';
import type { CloseToolCall, OpenToolCall, ToolCallOutcome } from '../attempts/tool-call-rows.ts';
import type { Writer } from '../database/transaction.ts';

/**
 * Gives every open tool call of the conversation a result, because no request may hold a call
 * without one. The attempt is raised: should the worker that claimed the call still report, its result is a late one.
 */
export async function closeToolCalls(
  { sql, turn, event }: Writer,
  cause: OpenToolCall['cause'],
  closeToolCall: CloseToolCall,
): Promise<void> {
  const calls = await sql<(Omit<OpenToolCall, 'cause' | 'decision'> & { readonly turnId: string })[]>`
    select turn_id, call_number, call_index, name, state, iso_time(claimed_at) as "claimedAt",
      ${partialOutput(sql)} as "partialOutput"
    from tool_calls where conversation_id = ${turn.conversationId} and state <> 'finished'
      and turn_id in (select t.id from turns t where t.conversation_id = ${turn.conversationId} and t.outcome is null)
    order by turn_id, call_number, call_index`;
  for (const { turnId, ...call } of calls) {
    const { callNumber, callIndex, name, state } = call;
    const decision = decidedInstead(await readDecision(sql, { turnId, callNumber, callIndex }));
    const outcome = outcomeOfClosing(state, decision);
    const entry = await insertEntry(sql, {
      ...closeToolCall({ ...call, cause, decision }),
      kind: 'tool_result',
      turn: { ...turn, turnId },
      callNumber,
      callIndex,
      toolName: name,
      isError: outcome !== 'succeeded',
    });
    await sql`
      update tool_calls set state = 'finished', outcome = ${outcome}, result_entry_id = ${entry.id},
        finished_at = holdfast_now(), attempt = attempt + 1, epoch = ${turn.epoch},
        partial_output = null, partial_bytes = null, partial_at = null
      where conversation_id = ${turn.conversationId} and turn_id = ${turnId} and call_number = ${callNumber} and call_index = ${callIndex}`;
    if (state === 'requested' && outcome === 'not_run') await uncountToolCall(sql, turn);
    await event('tool_call_finished', { callNumber, callIndex, name, outcome, entryId: entry.id }, turnId);
  }
  await withdrawDecisions(sql, turn.conversationId);
}

/** A decision that gives the call its result; `null`: it was allowed, or nobody decided. */
function decidedInstead(decision: Decision | null): Decision | null {
  return decision !== null && ['denied', 'expired', 'answered'].includes(decision.state) ? decision : null;
}

function outcomeOfClosing(state: OpenToolCall['state'], decision: Decision | null): ToolCallOutcome {
  if (decision?.state === 'answered') return 'succeeded';
  return state === 'claimed' && decision === null ? 'outcome_unknown' : 'not_run';
}

/** What did not run uses up no limit. */
async function uncountToolCall(sql: Transaction, { conversationId }: TurnReference): Promise<void> {
  await sql`update conversations set tool_calls = tool_calls - 1 where id = ${conversationId}`;
}

/**
 * A plan that nobody will finish no longer keeps others out. What was asked for it and never came back counts as paid.
 * @returns whether there was one
 */
export async function abandonCompaction(writer: Writer, failure: string): Promise<boolean> {
  const { sql, turn, event } = writer;
  await endLostAttempts(
    writer,
    sql`m.purpose = 'summary_part' and m.compaction_id in (
      select k.id from compactions k where k.conversation_id = ${turn.conversationId} and k.status = 'planned')`,
  );
  const rows = await sql<{ id: string; turnId: string }[]>`
    update compactions set status = 'abandoned', failure = ${failure}, finished_at = holdfast_now(), epoch = ${turn.epoch}
    where conversation_id = ${turn.conversationId} and status = 'planned'
    returning id, turn_id`;
  for (const row of rows) await event('compaction_abandoned', { compactionId: row.id, failure }, row.turnId);
  return rows.length > 0;
}

export interface ContextUsage {
  /** By the calibrated estimate. */
  readonly contextTokens: number;
  /** What the provider counted of the newest call and its answer; `null`: nothing since the newest compaction. */
  readonly usageTokens: number | null;
  /** Estimated of what came after that answer; of everything when nothing was counted. */
  readonly trailingTokens: number;
}

/** Writes the outcome. The row is final from here on: the database refuses another. Nothing of it waits for a provider. */
export async function finishTurn(
  writer: Writer,
  end: {
    readonly turnId: string;
    readonly outcome: TurnOutcome;
    readonly reason: string | null;
    readonly breakdown?: string | null;
    readonly contextUsage?: ContextUsage | null;
  },
): Promise<void> {
  const { sql, turn, event } = writer;
  await endLostAttempts(writer, sql`m.turn_id = ${end.turnId}`);
  await sql`
    update turns set outcome = ${end.outcome}, reason = ${end.reason}, breakdown = ${end.breakdown ?? null}::text::json,
      ended_at = holdfast_now(), (model_calls, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost,
        calls_of_unknown_cost, steps, tool_calls) = (
        select model_calls, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost, calls_of_unknown_cost,
          steps, tool_calls
        from turn_usage where turn_id = ${end.turnId})
    where id = ${end.turnId}`;
  await sql`
    update conversations set timeline_since = coalesce(timeline_since, holdfast_now()),
      worked_seconds = worked_seconds + (select worked_seconds(t) from turns t where t.id = ${end.turnId})
    where id = ${turn.conversationId}`;
  await releaseAllPermits(sql, turn.conversationId);
  await event('turn_ended', { outcome: end.outcome, reason: end.reason, ...end.contextUsage }, end.turnId);
}

/**
 * Ends a turn whose worker or workflow is gone, for the writer of a newer epoch: its open tool calls
 * get a result, its plan is abandoned.
 */
export async function interruptTurn(
  writer: Writer,
  interrupted: { readonly turnId: string; readonly reason: string; readonly closeToolCall: CloseToolCall },
): Promise<void> {
  const { turnId, reason, closeToolCall } = interrupted;
  await closeToolCalls(writer, 'interrupted', closeToolCall);
  await abandonCompaction(writer, 'interrupted');
  await finishTurn(writer, { turnId, outcome: 'interrupted', reason });
}

/** Takes the conversation: no writer of an older epoch gets in from here on. `setActiveTurn` then says when it was active. */
export async function raiseEpoch(sql: Transaction, conversationId: string): Promise<number> {
  const [row] = await sql<{ epoch: number }[]>`
    update conversations set epoch = epoch + 1 where id = ${conversationId} returning epoch`;
  return row?.epoch ?? 0;
}

export async function setActiveTurn(
  sql: Transaction,
  turn: Pick<TurnReference, 'conversationId'>,
  turnId: string | null,
): Promise<void> {
  await sql`
    update conversations set active_turn_id = ${turnId}, active_at = holdfast_now(), failures = '{}', rings = 0
    where id = ${turn.conversationId}`;
}
