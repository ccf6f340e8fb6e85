import type { Decision } from '../messages/decision-rows.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Queries } from '../database/database.ts';
import type { NewContent } from '../log/entries.ts';
import { StoreError } from '../database/errors.ts';
import { isoTime, isoTimeOrNull } from '../log/stored-text.ts';

export interface ToolCallReference {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** Position among the calls of the answer, from 0. */
  readonly callIndex: number;
}

export type ToolCallOutcome =
  | 'succeeded'
  | 'failed'
  /** It acted, perhaps; nobody knows. */
  | 'outcome_unknown'
  /** The turn ended before it was claimed, or it was not allowed. */
  | 'not_run';

/** What a claim had written when it was last noted. */
export interface PartialToolOutput {
  /** Beginning and end, keys masked. */
  readonly text: string;
  readonly bytes: number;
  readonly at: string;
}

export interface PartialColumns {
  readonly partial_output: string | null;
  readonly partial_bytes: string | null;
  readonly partial_at: Date | null;
}

/** `null` when nothing was written, or too shortly before the end to be noted. */
export function toPartialOutput(row: PartialColumns): PartialToolOutput | null {
  if (row.partial_output === null || row.partial_at === null) return null;
  return { text: row.partial_output, bytes: Number(row.partial_bytes), at: isoTime(row.partial_at) };
}

/** A call that nobody will finish, and why. */
export interface OpenToolCall {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly name: string;
  /** `requested`: never claimed, or given back each time, so it had no effect. `claimed`: it may have acted. */
  readonly state: 'requested' | 'claimed';
  /** When it was claimed last. */
  readonly claimedAt: string | null;
  /** What it had written by then. */
  readonly partialOutput: PartialToolOutput | null;
  readonly cause: 'stopped' | 'interrupted' | 'turn_ended';
  /** What was decided instead of running it: a refusal, by a person or by time, or the answer to its question. It had no effect, claimed or not. */
  readonly decision: Decision | null;
}

/** Words the result that an open call gets. Pure. */
export type CloseToolCall = (call: OpenToolCall) => NewContent;

export interface ToolCallRow {
  readonly callNumber: number;
  readonly callIndex: number;
  /** The answer that makes it. */
  readonly entryId: string;
  readonly name: string;
  readonly providerCallId: string;
  readonly arguments: string;
  /** Claims so far. */
  readonly attempt: number;
  readonly state: 'requested' | 'claimed' | 'finished';
  readonly outcome: ToolCallOutcome | null;
  readonly workerIdentity: string | null;
  /** The try of an activity that claimed it last; `null` before. */
  readonly claimer: { readonly runId: string; readonly activityAttempt: number } | null;
  /** Made for the newest claim; `null` before. */
  readonly claimId: string | null;
  /** Claims, from the first one on, that were given back before the tool began. As many as `attempt`: nothing acted yet. */
  readonly givenBack: number;
  readonly claimedAt: string | null;
  readonly finishedAt: string | null;
  readonly resultEntryId: string | null;
  /** Tells the call with its result from others of the turn; `null` while there is none, or when the end of the turn closed the call. */
  readonly fingerprint: string | null;
  /** Of the newest claim, while it has no result. */
  readonly partialOutput: PartialToolOutput | null;
}

/** A call as its row is read. */
interface ReadRow extends PartialColumns {
  readonly entry_id: string;
  readonly name: string;
  readonly provider_call_id: string;
  readonly arguments: string;
  readonly attempt: number;
  readonly state: ToolCallRow['state'];
  readonly outcome: ToolCallOutcome | null;
  readonly worker_identity: string | null;
  readonly claim_run_id: string | null;
  readonly claim_attempt: number | null;
  readonly claim_id: string | null;
  readonly given_back: number;
  readonly claimed_at: Date | null;
  readonly finished_at: Date | null;
  readonly result_entry_id: string | null;
  readonly fingerprint: string | null;
}

/** @throws StoreError `tool_call_not_found` */
export async function readToolCall(
  sql: Queries,
  call: Omit<ToolCallReference, 'turn'> & Omit<TurnReference, 'epoch'>,
): Promise<ToolCallRow> {
  const { conversationId, turnId, callNumber, callIndex } = call;
  const [row] = await sql<ReadRow[]>`
    select entry_id, name, provider_call_id, arguments, attempt, state, outcome, worker_identity, claim_run_id,
      claim_attempt, claim_id, given_back, claimed_at, finished_at,
      result_entry_id, fingerprint, partial_output, partial_bytes, partial_at
    from tool_calls
    where conversation_id = ${conversationId} and turn_id = ${turnId} and call_number = ${callNumber} and call_index = ${callIndex}`;
  if (row === undefined) {
    throw new StoreError('tool_call_not_found', `turn ${turnId} made no tool call ${callNumber}.${callIndex}`);
  }
  return {
    callNumber,
    callIndex,
    entryId: row.entry_id,
    name: row.name,
    providerCallId: row.provider_call_id,
    arguments: row.arguments,
    attempt: row.attempt,
    state: row.state,
    outcome: row.outcome,
    workerIdentity: row.worker_identity,
    claimer:
      row.claim_run_id === null || row.claim_attempt === null
        ? null
        : { runId: row.claim_run_id, activityAttempt: row.claim_attempt },
    claimId: row.claim_id,
    givenBack: row.given_back,
    claimedAt: isoTimeOrNull(row.claimed_at),
    finishedAt: isoTimeOrNull(row.finished_at),
    resultEntryId: row.result_entry_id,
    fingerprint: row.fingerprint,
    partialOutput: toPartialOutput(row),
  };
}
