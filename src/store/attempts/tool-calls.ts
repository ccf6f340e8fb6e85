import type { Database, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { jsonText } from '../log/stored-text.ts';
import { readToolCall } from './tool-call-rows.ts';
import type { ToolCallReference, ToolCallRow } from './tool-call-rows.ts';
import { writeAsTurn } from '../database/transaction.ts';

export { readToolCall } from './tool-call-rows.ts';
export type {
  CloseToolCall,
  OpenToolCall,
  PartialToolOutput,
  ToolCallOutcome,
  ToolCallReference,
  ToolCallRow,
} from './tool-call-rows.ts';

export { listLateToolResults, storeToolResult } from './tool-results.ts';
export type { LateToolResult, StoredToolResult, ToolResultToStore } from './tool-results.ts';

/** Who runs a call: one attempt of an activity, on one worker. */
export interface Claimer {
  readonly workerIdentity: string;
  readonly runId: string;
  readonly activityAttempt: number;
}

/**
 * Reads a call before anything is done for it.
 * @throws StoreError `tool_call_not_found`, `superseded_attempt` (a newer attempt of the same activity runs the call, so this one must not
 *   decide about it)
 */
export async function openToolCall(
  sql: Database,
  call: ToolCallReference & Pick<Claimer, 'runId' | 'activityAttempt'>,
): Promise<ToolCallRow> {
  const row = await readToolCall(sql, { ...call, ...call.turn });
  const { state, claimer } = row;
  // Attempts of different runs (a workflow that was reset) have no order.
  const isOlder = claimer?.runId === call.runId && claimer.activityAttempt > call.activityAttempt;
  if (state === 'claimed' && isOlder) throw superseded(call, row, call.activityAttempt);
  return row;
}

/**
 * Claims a call in the commit before it runs; at most one caller gets it. Repeating it comes to the same, so a reply that was lost may be
 * asked for again.
 * @param claim `attempt`: number of this claim, one more than the call had when it was read
 * @throws StoreError `stale_epoch`, `tool_call_not_found`, `superseded_attempt` (another one claimed or finished it first)
 */
export async function claimToolCall(
  sql: Database,
  claim: ToolCallReference & Claimer & { readonly attempt: number },
): Promise<void> {
  const { turn, callNumber, callIndex, attempt, workerIdentity, runId, activityAttempt } = claim;
  await writeAsTurn(sql, turn, async (writer) => {
    const row = await readToolCall(writer.sql, { ...claim, ...turn });
    if (row.state === 'claimed' && row.attempt === attempt && isClaimedBy(row, claim)) return;
    if (row.state === 'finished' || row.attempt !== attempt - 1) throw superseded(claim, row, attempt);
    await writer.sql`
      update tool_calls set state = 'claimed', attempt = ${attempt}, worker_identity = ${workerIdentity},
        claim_run_id = ${runId}, claim_attempt = ${activityAttempt}, claimed_at = holdfast_now(), epoch = ${turn.epoch},
        partial_output = null, partial_bytes = null, partial_at = null
      where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}
        and call_number = ${callNumber} and call_index = ${callIndex}`;
    const { name } = row;
    // The timeline tells only that a call is claimed again.
    if (attempt > 1)
      await writer.event('tool_call_reclaimed', { callNumber, callIndex, name, attempt, workerIdentity });
  });
}

function isClaimedBy({ claimer, workerIdentity }: ToolCallRow, claim: Claimer): boolean {
  return (
    workerIdentity === claim.workerIdentity &&
    claimer?.runId === claim.runId &&
    claimer.activityAttempt === claim.activityAttempt
  );
}

/**
 * Notes what the running claim has written so far, for the case that its worker dies. `false`: another one
 * took the call over or finished it.
 */
export async function keepPartialOutput(
  sql: Database,
  partial: ToolCallReference & { readonly attempt: number; readonly text: string; readonly bytes: number },
): Promise<boolean> {
  const { turn, callNumber, callIndex, attempt, text, bytes } = partial;
  return writeAsTurn(sql, turn, async (writer) => {
    const { count } = await writer.sql`
      update tool_calls set partial_output = ${jsonText(text)}::text::json, partial_bytes = ${bytes},
        partial_at = holdfast_now(), epoch = ${turn.epoch}
      where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and call_number = ${callNumber} and call_index = ${callIndex}
        and attempt = ${attempt} and state = 'claimed'`;
    return count > 0;
  });
}

/**
 * One transaction in the name of the claim that runs a call: what a tool writes beside the log (memories) is refused to a claim
 * that was replaced, as its result is.
 * @throws StoreError `stale_epoch`, `superseded_attempt`, `tool_call_not_found`
 */
export async function writeAsToolCall<Result>(
  sql: Database,
  claim: ToolCallReference & { readonly attempt: number },
  work: (open: Transaction, call: Pick<ToolCallRow, 'entryId'>) => Promise<Result>,
): Promise<Result> {
  const { turn, attempt } = claim;
  return writeAsTurn(sql, turn, async (writer) => {
    const row = await readToolCall(writer.sql, { ...claim, ...turn });
    if (row.state === 'claimed' && row.attempt === attempt) return work(writer.sql, row);
    throw superseded(claim, row, attempt);
  });
}

function superseded(
  { turn, callNumber, callIndex }: ToolCallReference,
  { state, attempt }: Pick<ToolCallRow, 'state' | 'attempt'>,
  own: number,
): StoreError {
  return new StoreError(
    'superseded_attempt',
    `tool call ${callNumber}.${callIndex} of turn ${turn.turnId} is ${state} at attempt ${attempt}; this is attempt ${own}`,
  );
}
