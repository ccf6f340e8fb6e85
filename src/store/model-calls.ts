import type { ContentPart } from '../context/content.ts';
import type { Measurements } from '../context/measurements.ts';
import type { ReportedUsage, StopReason } from '../models/model-client.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';

export interface ModelCallRegistration {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** `provider/model`. */
  readonly model: string;
  readonly headEntryId: string;
  readonly compactionId: string | null;
  /** Hash of the request's view, to prove later that a rebuilt view is the one the model saw. */
  readonly viewFingerprint: string;
  readonly rendererVersion: string;
  /** Tokens of the whole request by the calibrated estimate. */
  readonly estimatedTokens: number;
  /** Measurements of the whole request, `fixed` included: what calibration compares with reported usage. */
  readonly measurements: Measurements;
}

/** An answer that is stored. */
export interface StoredAnswer {
  readonly entryId: string;
  readonly attempt: number;
  readonly content: readonly ContentPart[];
  readonly stopReason: StopReason;
  readonly usage: ReportedUsage | null;
  readonly headEntryId: string;
  /** Dollars of the turn up to and with this call; `null` when a price is unknown. */
  readonly turnCost: number | null;
}

/** The stored answer of a call number, if any: nothing needs to be bought. @throws StoreError `stale_epoch` */
export async function readAnswer(
  _sql: Database,
  _call: { readonly turn: TurnReference; readonly callNumber: number },
): Promise<StoredAnswer | null> {
  throw new Error('unwritten');
}

/**
 * Registers a try of a model call before the model is asked. The number returned is the try's, counted
 * by the database over all activity attempts, runs and resets of the turn; only the newest may store
 * an answer. A call that is answered returns the answer instead.
 * @throws StoreError `stale_epoch`, `head_moved`
 */
export async function registerModelCall(
  _sql: Database,
  _registration: ModelCallRegistration,
): Promise<
  | { readonly kind: 'registered'; readonly attempt: number; readonly failures: number }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
> {
  throw new Error('unwritten');
}

export interface AnswerToStore {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly attempt: number;
  /** The entry that the request ended with; the answer becomes its child. */
  readonly headEntryId: string;
  readonly content: readonly ContentPart[];
  readonly measurements: Measurements;
  readonly usage: ReportedUsage | null;
  /** Dollars; `null` when the price is unknown. */
  readonly cost: number | null;
  readonly durationMilliseconds: number;
  readonly stopReason: StopReason;
  readonly responseId: string | null;
}

/**
 * Stores an answer in one transaction: the assistant entry with exactly that parent, a row per tool
 * call, usage and cost on call, turn and conversation. The same attempt again returns what is stored.
 * @throws StoreError `stale_epoch`, `superseded_attempt`, `head_moved`
 */
export async function storeAnswer(_sql: Database, _answer: AnswerToStore): Promise<StoredAnswer> {
  throw new Error('unwritten');
}

export interface ModelFailure {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly attempt: number;
  readonly kind: 'overflow' | 'retryable' | 'permanent' | 'aborted' | 'refused';
  /** Code of the classifier's evidence; never the vendor's words. */
  readonly evidence: string;
  readonly status: number | null;
  /** Paid although no answer was kept. */
  readonly usage: ReportedUsage | null;
  readonly cost: number | null;
  readonly durationMilliseconds: number;
}

/**
 * Notes how a try failed; returns the failures (`retryable` and `permanent`) of this call number.
 * Never refuses an older attempt: what was paid is counted.
 */
export async function recordModelFailure(
  _sql: Database,
  _failure: ModelFailure,
): Promise<{ readonly failures: number }> {
  throw new Error('unwritten');
}

export interface ModelCallRow {
  readonly turnId: string;
  readonly callNumber: number;
  readonly attempt: number;
  readonly state: 'registered' | 'answered' | 'failed';
  readonly model: string;
  readonly headEntryId: string;
  readonly compactionId: string | null;
  readonly viewFingerprint: string;
  readonly rendererVersion: string;
  readonly estimatedTokens: number;
  readonly usage: ReportedUsage | null;
  readonly cost: number | null;
  readonly stopReason: StopReason | null;
  readonly failure: {
    readonly kind: ModelFailure['kind'];
    readonly evidence: string;
    readonly status: number | null;
  } | null;
  readonly durationMilliseconds: number | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** Model calls of a conversation or of one turn, oldest first, calls paid twice included. */
export async function listModelCalls(
  _sql: Database,
  _request: { readonly conversationId: string; readonly turnId?: string; readonly limit?: number },
): Promise<ModelCallRow[]> {
  throw new Error('unwritten');
}
