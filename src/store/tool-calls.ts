import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';
import type { NewContent } from './entries.ts';

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
  /** The turn ended before it was claimed. */
  | 'not_run';

/** A call that nobody will finish, and why. */
export interface OpenToolCall {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly name: string;
  /** `requested`: never claimed, so it had no effect. `claimed`: it may have acted. */
  readonly state: 'requested' | 'claimed';
  /** When it was claimed last. */
  readonly claimedAt: string | null;
  readonly cause: 'stopped' | 'interrupted' | 'turn_ended';
}

/** Words the result that an open call gets. Pure. */
export type CloseToolCall = (call: OpenToolCall) => NewContent;

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
  _sql: Database,
  _claim: ToolCallReference & { readonly workerIdentity: string },
): Promise<ToolClaim> {
  throw new Error('unwritten');
}

/**
 * Takes a claimed call over from the attempt seen in `claimed_before`, to run it again.
 * @throws StoreError `stale_epoch`, `superseded_attempt` (another one took it over first)
 */
export async function reclaimToolCall(
  _sql: Database,
  _claim: ToolCallReference & { readonly workerIdentity: string; readonly previousAttempt: number },
): Promise<{ readonly attempt: number }> {
  throw new Error('unwritten');
}

export interface ToolResultToStore extends ToolCallReference, NewContent {
  /** Of the claim that ran; for a result without a claim of one's own, the one seen in `claimed_before`. */
  readonly attempt: number;
  readonly outcome: ToolCallOutcome;
  readonly workerIdentity: string;
  /** Replaces the plan note, in the same transaction. */
  readonly plan?: NewContent;
}

export type StoredToolResult =
  | { readonly state: 'stored'; readonly entryId: string; readonly outcome: ToolCallOutcome }
  /** Another attempt finished or took over the call, or the turn is over: kept beside the log, never in it. */
  | { readonly state: 'late' };

/**
 * Stores a result with its entry in one transaction. The same attempt again returns what is stored.
 * Does not throw for an older attempt or epoch: the result is kept as a late one.
 * @throws StoreError `tool_call_not_found`
 */
export async function storeToolResult(_sql: Database, _result: ToolResultToStore): Promise<StoredToolResult> {
  throw new Error('unwritten');
}

export interface ToolCallRow extends Omit<RequestedToolCall, 'attempt'> {
  readonly callNumber: number;
  readonly callIndex: number;
  readonly attempt: number;
  readonly state: 'requested' | 'claimed' | 'finished';
  readonly outcome: ToolCallOutcome | null;
  readonly workerIdentity: string | null;
  readonly claimedAt: string | null;
  readonly finishedAt: string | null;
  readonly resultEntryId: string | null;
  readonly lateResults: number;
}

/** @throws StoreError `tool_call_not_found` */
export async function readToolCall(
  _sql: Database,
  _call: Omit<ToolCallReference, 'turn'> & { readonly turnId: string },
): Promise<ToolCallRow> {
  throw new Error('unwritten');
}
