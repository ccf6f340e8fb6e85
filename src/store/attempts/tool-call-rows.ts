import type { RunToolInput } from '../../turn/activity-values.ts';
import { decisionColumns } from '../messages/decision-rows.ts';
import type { Decision } from '../messages/decision-rows.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Fragment, Queries } from '../database/database.ts';
import type { NewContent } from '../log/entries.ts';
import { StoreError } from '../database/errors.ts';

export type ToolCallReference = RunToolInput;

export type ToolCallOutcome =
  | 'succeeded'
  | 'failed'
  /** It acted, perhaps; nobody knows. */
  | 'outcome_unknown'
  /** The turn ended before it was claimed, or it was not allowed. */
  | 'not_run';

export interface PartialToolOutput {
  /** Beginning and end, keys masked. */
  readonly text: string;
  readonly bytes: number;
  readonly at: string;
}

/** `PartialToolOutput` of `tool_calls`; null when nothing was written, or too shortly before the end to be noted. */
export function partialOutput(sql: Queries): Fragment {
  return sql`case when partial_output is not null then json_build_object('text', partial_output, 'bytes', partial_bytes,
    'at', iso_time(partial_at)) end`;
}

export interface OpenToolCall {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly name: string;
  /** `requested`: never claimed, so it had no effect. `claimed`: it may have acted. */
  readonly state: 'requested' | 'claimed';
  readonly claimedAt: string | null;
  readonly partialOutput: PartialToolOutput | null;
  readonly cause: 'stopped' | 'interrupted' | 'turn_ended';
  /** What was decided instead of running it: a refusal, by a person or by time, or the answer to its question. It had no effect, claimed or not. */
  readonly decision: Decision | null;
}

export type CloseToolCall = (call: OpenToolCall) => NewContent;

export interface ToolCallRow {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly entryId: string;
  readonly name: string;
  /** Whose conversation it is; `user` is `null` where the start named none. */
  readonly owner: { readonly tenant: string; readonly user: string | null };
  readonly arguments: string;
  /** Claims so far. */
  readonly attempt: number;
  readonly state: 'requested' | 'claimed' | 'finished';
  readonly outcome: ToolCallOutcome | null;
  readonly workerIdentity: string | null;
  /** The try of an activity that claimed it last; `null` before. */
  readonly claimer: { readonly runId: string; readonly activityAttempt: number } | null;
  readonly claimedAt: string | null;
  readonly resultEntryId: string | null;
  /** Tells the call with its result from others of the turn; `null` while there is none, or when the end of the turn closed the call. */
  readonly fingerprint: string | null;
  readonly partialOutput: PartialToolOutput | null;
  /** What a person decided about it; `null`: nobody was asked. */
  readonly decision: Decision | null;
}

export async function readToolCall(
  sql: Queries,
  call: Omit<ToolCallReference, 'turn'> & Omit<TurnReference, 'epoch'>,
): Promise<ToolCallRow> {
  const { conversationId, turnId, callNumber, callIndex } = call;
  const [row] = await sql<ToolCallRow[]>`
    select call_number, call_index, entry_id, name,
      (select json_build_object('tenant', tenant, 'user', user_name) from conversations where id = conversation_id) as owner,
      arguments, attempt, state, outcome, worker_identity,
      case when claim_run_id is not null and claim_attempt is not null
        then json_build_object('runId', claim_run_id, 'activityAttempt', claim_attempt) end as claimer,
      iso_time(claimed_at) as "claimedAt",
      result_entry_id, fingerprint,
      ${partialOutput(sql)} as "partialOutput",
      (select ${decisionColumns(sql)} from decisions d
        where (d.turn_id, d.call_number, d.call_index) = (c.turn_id, c.call_number, c.call_index)) as decision
    from tool_calls c
    where conversation_id = ${conversationId} and turn_id = ${turnId} and call_number = ${callNumber} and call_index = ${callIndex}`;
  if (row === undefined) {
    throw new StoreError('tool_call_not_found', `turn ${turnId} made no tool call ${callNumber}.${callIndex}`);
  }
  return row;
}

/** The same for every attempt of a call, in whatever run or worker. */
export function idempotencyKeyOf({ turn, callNumber, callIndex }: ToolCallReference): string {
  return `${turn.turnId}:${callNumber}:${callIndex}`;
}
