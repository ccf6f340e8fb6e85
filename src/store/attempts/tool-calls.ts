import type { Database, Transaction } from '../database/database.ts';
import { readDecision } from '../messages/decision-rows.ts';
import type { Decision } from '../messages/decision-rows.ts';
import { StoreError } from '../database/errors.ts';
import { jsonText } from '../log/stored-text.ts';
import { readToolCall } from './tool-call-rows.ts';
import type { PartialToolOutput, ToolCallOutcome, ToolCallReference, ToolCallRow } from './tool-call-rows.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { Writer } from '../database/transaction.ts';

export { readToolCall } from './tool-call-rows.ts';
export type {
  CloseToolCall,
  OpenToolCall,
  PartialToolOutput,
  ToolCallOutcome,
  ToolCallReference,
} from './tool-call-rows.ts';

export { listLateToolResults, storeToolResult } from './tool-results.ts';
export type { LateToolResult, StoredToolResult, ToolResultToStore } from './tool-results.ts';

/** `attempt`: the number of this claim, counted by the database; names the writer in `storeToolResult`. */
export type RequestedToolCall = Pick<ToolCallRow, 'name' | 'providerCallId' | 'arguments' | 'attempt'>;

interface OpenCall extends RequestedToolCall {
  /** What stands of it when a person was asked about it; `null`: it never asked. */
  readonly decision: Decision | null;
}

export interface Claimer {
  /** Made for this try alone: a claim that has it is its own, also when the reply to the claim was lost. */
  readonly claimId: string;
  readonly workerIdentity: string;
  readonly runId: string;
  readonly activityAttempt: number;
}

export type ToolClaim =
  | ({ readonly state: 'claimed' } & OpenCall)
  /**
   * An earlier claim has no result. Nothing was written: decide by the tool's effect, then call
   * `reclaimToolCall` to run it again or `storeToolResult` with `outcome_unknown`. `attempt` is that of the earlier claim.
   */
  | ({
      readonly state: 'claimed_before';
      readonly claimedAt: string;
      readonly workerIdentity: string;
      readonly partialOutput: PartialToolOutput | null;
      /** Workers that took the call and of which nothing more was heard. */
      readonly lost: number;
    } & OpenCall)
  | ({
      readonly state: 'finished';
      readonly outcome: ToolCallOutcome;
      readonly resultEntryId: string;
      /** `null`: the end of a turn closed the call. */
      readonly fingerprint: string | null;
    } & RequestedToolCall);

/**
 * Claims a call before it acts; at most one caller gets `claimed`. Repeating it comes to the same, so a reply that was lost may be asked
 * for again, as long as the tool has not begun.
 * @param mayHold called before the claim is written: a caller that fails behind it may hold the call without knowing it.
 * @throws StoreError `stale_epoch`, `tool_call_not_found`, `superseded_attempt` (a newer attempt of the same activity holds
 *   the claim, so this one has been given up by Temporal: it must not decide about a call that another runs)
 */
export async function claimToolCall(
  sql: Database,
  claim: ToolCallReference & Claimer,
  mayHold: () => void = () => undefined,
): Promise<ToolClaim> {
  const { turn } = claim;
  return writeAsTurn(sql, turn, async (writer): Promise<ToolClaim> => {
    const reference = { ...claim, ...turn };
    const [row, decision] = await Promise.all([
      readToolCall(writer.sql, reference),
      readDecision(writer.sql, reference),
    ]);
    const { name, providerCallId, arguments: text, attempt, givenBack } = row;
    const call = { name, providerCallId, arguments: text, decision };
    if (row.outcome !== null && row.resultEntryId !== null) {
      const { outcome, resultEntryId, fingerprint } = row;
      return { state: 'finished', ...call, attempt, outcome, resultEntryId, fingerprint };
    }
    if (row.claimedAt !== null) {
      if (isHeldBy(row, claim)) return { state: 'claimed', ...call, attempt };
      refuseOlderAttempt(claim, row);
      const { claimedAt, partialOutput } = row;
      const workerIdentity = row.workerIdentity ?? '';
      const before = { ...call, attempt, claimedAt, workerIdentity, partialOutput, lost: attempt - givenBack };
      if (before.lost > 0) return { state: 'claimed_before', ...before };
    }
    mayHold();
    const next = attempt + 1;
    await writeClaim(writer, claim, { name, attempt: next });
    return { state: 'claimed', ...call, attempt: next };
  });
}

function isHeldBy(
  { claimId, claimer, workerIdentity, attempt, givenBack }: ToolCallRow,
  claim: ToolCallReference & Claimer,
): boolean {
  return (
    claimId === claim.claimId &&
    attempt > givenBack &&
    workerIdentity === claim.workerIdentity &&
    claimer?.runId === claim.runId &&
    claimer.activityAttempt === claim.activityAttempt
  );
}

/**
 * Gives a claim back whose tool has not begun and is not to begin any more: the call counts as one that nobody claimed. Only the claimer
 * itself knows that. `false`: it holds the call no more, or took it over from another that may have acted.
 * @throws StoreError `tool_call_not_found`
 */
export async function giveBackToolCall(sql: Database, claim: ToolCallReference & Claimer): Promise<boolean> {
  const { turn, callNumber, callIndex } = claim;
  try {
    return await writeAsTurn(sql, turn, async (writer) => {
      const row = await readToolCall(writer.sql, { ...claim, ...turn });
      if (row.state !== 'claimed' || !isHeldBy(row, claim) || row.givenBack !== row.attempt - 1) return false;
      await writer.sql`
        update tool_calls set given_back = attempt, epoch = ${turn.epoch}
        where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and call_number = ${callNumber} and call_index = ${callIndex}`;
      return true;
    });
  } catch (error) {
    // The next turn has closed the call.
    if (error instanceof StoreError && error.code === 'stale_epoch') return false;
    throw error;
  }
}

/** Attempts of different runs (a workflow that was reset) have no order: there the claim's age alone says nothing. */
function refuseOlderAttempt(claim: ToolCallReference & Claimer, { claimer }: ToolCallRow): void {
  if (claimer === null || claimer.runId !== claim.runId || claimer.activityAttempt <= claim.activityAttempt) return;
  throw superseded(claim, { state: 'claimed', attempt: claimer.activityAttempt }, claim.activityAttempt);
}

/**
 * Takes a claimed call over from the attempt seen in `claimed_before`, to run it again. Repeating it comes to the same, as long as the
 * tool has not begun.
 * @throws StoreError `stale_epoch`, `superseded_attempt` (another one took it over or finished it first)
 */
export async function reclaimToolCall(
  sql: Database,
  claim: ToolCallReference & Claimer & { readonly previousAttempt: number },
): Promise<{ readonly attempt: number }> {
  const { turn, previousAttempt } = claim;
  return writeAsTurn(sql, turn, async (writer) => {
    const row = await readToolCall(writer.sql, { ...claim, ...turn });
    const attempt = previousAttempt + 1;
    if (row.state === 'claimed' && row.attempt === attempt && isHeldBy(row, claim)) return { attempt };
    if (row.state !== 'claimed' || row.attempt !== previousAttempt) throw superseded(claim, row, previousAttempt);
    await writeClaim(writer, claim, { name: row.name, attempt });
    return { attempt };
  });
}

/** The first claim of a call is its row's alone: what the timeline tells is that the call is claimed again. */
async function writeClaim(
  { sql, event }: Writer,
  claim: ToolCallReference & Claimer,
  { name, attempt }: Pick<RequestedToolCall, 'name' | 'attempt'>,
): Promise<void> {
  const { turn, callNumber, callIndex, workerIdentity, runId, activityAttempt, claimId } = claim;
  await sql`
    update tool_calls set state = 'claimed', attempt = ${attempt}, worker_identity = ${workerIdentity},
      claim_run_id = ${runId}, claim_attempt = ${activityAttempt}, claim_id = ${claimId},
      claimed_at = holdfast_now(), epoch = ${turn.epoch}, partial_output = null, partial_bytes = null, partial_at = null
    where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and call_number = ${callNumber} and call_index = ${callIndex}`;
  if (attempt > 1) await event('tool_call_reclaimed', { callNumber, callIndex, name, attempt, workerIdentity });
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
