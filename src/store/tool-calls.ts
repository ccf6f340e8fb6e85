import type { Database, Queries } from './database.ts';
import type { NewContent } from './entries.ts';
import { StoreError } from './errors.ts';
import { isoTime } from './stored-text.ts';
import { readToolCall } from './tool-call-rows.ts';
import type { ToolCallOutcome, ToolCallReference } from './tool-call-rows.ts';
import { writeAsTurn } from './transaction.ts';

export { readToolCall } from './tool-call-rows.ts';
export type { OpenToolCall, ToolCallOutcome, ToolCallReference } from './tool-call-rows.ts';

export { storeToolResult } from './tool-results.ts';
export type { StoredToolResult, ToolResultToStore } from './tool-results.ts';

export interface RequestedToolCall {
  readonly name: string;
  /** The provider's id of the call. */
  readonly providerCallId: string;
  /** As the model wrote them. */
  readonly arguments: string;
  /** The number of this claim, counted by the database; names the writer in `storeToolResult`. */
  readonly attempt: number;
}

export type ToolClaim =
  /** The caller may act now. */
  | ({ readonly state: 'claimed' } & RequestedToolCall)
  /**
   * An earlier claim has no result. Nothing was written: decide by the tool's effect, then call
   * `reclaimToolCall` to run it again or `storeToolResult` with `outcome_unknown`. `attempt` is that of the earlier claim.
   */
  | ({
      readonly state: 'claimed_before';
      readonly claimedAt: string;
      readonly workerIdentity: string;
    } & RequestedToolCall)
  | { readonly state: 'finished'; readonly outcome: ToolCallOutcome; readonly resultEntryId: string };

/**
 * Claims a call before it acts; at most one caller gets `claimed`.
 * @throws StoreError `stale_epoch`, `tool_call_not_found`
 */
export async function claimToolCall(
  sql: Database,
  claim: ToolCallReference & { readonly workerIdentity: string },
): Promise<ToolClaim> {
  const { turn, callNumber, callIndex, workerIdentity } = claim;
  return writeAsTurn(sql, turn, async (writer): Promise<ToolClaim> => {
    const row = await readToolCall(writer.sql, { ...claim, turnId: turn.turnId });
    const { name, providerCallId, arguments: text, attempt } = row;
    const call = { name, providerCallId, arguments: text };
    if (row.outcome !== null && row.resultEntryId !== null) {
      return { state: 'finished', outcome: row.outcome, resultEntryId: row.resultEntryId };
    }
    if (row.claimedAt !== null) {
      const { claimedAt } = row;
      return { state: 'claimed_before', ...call, attempt, claimedAt, workerIdentity: row.workerIdentity ?? '' };
    }
    await Promise.all([
      writeClaim(writer.sql, claim, 1),
      writer.event('tool_call_claimed', { callNumber, callIndex, name, attempt: 1, workerIdentity }),
    ]);
    return { state: 'claimed', ...call, attempt: 1 };
  });
}

/**
 * Takes a claimed call over from the attempt seen in `claimed_before`, to run it again.
 * @throws StoreError `stale_epoch`, `superseded_attempt` (another one took it over or finished it first)
 */
export async function reclaimToolCall(
  sql: Database,
  claim: ToolCallReference & { readonly workerIdentity: string; readonly previousAttempt: number },
): Promise<{ readonly attempt: number }> {
  const { turn, callNumber, callIndex, workerIdentity, previousAttempt } = claim;
  return writeAsTurn(sql, turn, async (writer) => {
    const row = await readToolCall(writer.sql, { ...claim, turnId: turn.turnId });
    if (row.state !== 'claimed' || row.attempt !== previousAttempt) {
      throw new StoreError(
        'superseded_attempt',
        `tool call ${callNumber}.${callIndex} of turn ${turn.turnId} is ${row.state} at attempt ${row.attempt}, no longer ${previousAttempt}`,
      );
    }
    const attempt = previousAttempt + 1;
    await Promise.all([
      writeClaim(writer.sql, claim, attempt),
      writer.event('tool_call_claimed', { callNumber, callIndex, name: row.name, attempt, workerIdentity }),
    ]);
    return { attempt };
  });
}

async function writeClaim(
  sql: Queries,
  claim: ToolCallReference & { readonly workerIdentity: string },
  attempt: number,
): Promise<void> {
  const { turn, callNumber, callIndex, workerIdentity } = claim;
  await sql`
    update tool_calls set state = 'claimed', attempt = ${attempt}, worker_identity = ${workerIdentity},
      claimed_at = holdfast_now(), epoch = ${turn.epoch}
    where turn_id = ${turn.turnId} and call_number = ${callNumber} and call_index = ${callIndex}`;
}

/** A result that came too late, for people. */
export interface LateToolResult {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly attempt: number;
  readonly workerIdentity: string;
  readonly outcome: ToolCallOutcome;
  readonly content: NewContent['content'];
  readonly receivedAt: string;
}

/** Results of a turn that are kept beside the log, in order of arrival. */
export async function listLateToolResults(sql: Database, turnId: string): Promise<LateToolResult[]> {
  const rows = await sql<
    (Omit<LateToolResult, 'callNumber' | 'callIndex' | 'workerIdentity' | 'receivedAt'> & {
      call_number: number;
      call_index: number;
      worker_identity: string;
      received_at: Date;
    })[]
  >`
    select call_number, call_index, attempt, worker_identity, outcome, content, received_at
    from late_tool_results where turn_id = ${turnId} order by received_at, id`;
  return rows.map((row) => ({
    callNumber: row.call_number,
    callIndex: row.call_index,
    attempt: row.attempt,
    workerIdentity: row.worker_identity,
    outcome: row.outcome,
    content: row.content,
    receivedAt: isoTime(row.received_at),
  }));
}
