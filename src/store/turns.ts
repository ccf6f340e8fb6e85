import type { Measurements } from '../context/measurements.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { TurnOutcome, TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';
import type { NewContent } from './entries.ts';
import type { CloseToolCall } from './tool-calls.ts';

export interface BeginTurnRequest {
  readonly conversationId: string;
  /** Id for the turn if one begins; a repeated call for the same run gets the first one's. */
  readonly turnId: string;
  readonly workflowId: string;
  /** Temporal's run id: beginning twice for one run is beginning once. */
  readonly runId: string;
  readonly workerIdentity: string;
}

/** What the store asks for while it begins a turn; called before the transaction opens. */
export interface BeginTurnSources {
  readonly snapshotFor: (agent: string) => Promise<{
    readonly snapshot: AgentSnapshot;
    /** Measurements of instructions, rules and tool schemas: the part of a request that no entry holds. */
    readonly fixed: Measurements;
    /** The rules as a note; appended when they differ from the newest one. `null`: the agent has none. */
    readonly rules: NewContent | null;
  }>;
  /** What the model is told of calls that a dead turn left open. */
  readonly closeToolCall: CloseToolCall;
}

export type BegunTurn =
  | {
      readonly kind: 'begun';
      readonly turn: TurnReference;
      /** A command for an idle conversation: a turn with no step. */
      readonly commandOnly: boolean;
      readonly compactRequested: boolean;
      /** A stop that was sent after every message the turn took. */
      readonly stopRequested: boolean;
      /** User entries that the turn took when it began. */
      readonly messages: number;
      readonly headEntryId: string | null;
      readonly snapshot: AgentSnapshot;
    }
  | { readonly kind: 'nothing_waiting' };

/**
 * Takes the conversation for a new turn, in one transaction: raises the epoch, so that no older
 * turn can write; ends a turn that was left open as `interrupted` and gives its open tool calls a
 * result; abandons its planned compaction; appends the rules note if it changed, then the oldest
 * queued message and all waiting steering messages.
 * @throws StoreError `conversation_not_found`, `stale_epoch` (the run's turn was taken over)
 */
export async function beginTurn(
  _sql: Database,
  _request: BeginTurnRequest,
  _sources: BeginTurnSources,
): Promise<BegunTurn> {
  throw new Error('unwritten');
}

/**
 * A turn that continues as a new run keeps id and epoch: registers the run that works on it now.
 * @throws StoreError `stale_epoch`
 */
export async function continueTurn(
  _sql: Database,
  _request: { readonly turn: TurnReference; readonly runId: string; readonly workerIdentity: string },
): Promise<void> {
  throw new Error('unwritten');
}

/** Sums over the turn's model calls and summaries, calls that were paid twice included. Tokens; dollars. */
export interface TurnUsage {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** `null` when the price of any call is unknown. */
  readonly cost: number | null;
}

export interface TurnRow {
  readonly turn: TurnReference;
  readonly agent: string;
  readonly model: string;
  readonly preset: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly commandOnly: boolean;
  /** `null` while the turn is open. */
  readonly outcome: TurnOutcome | null;
  /** Code of what led to the outcome. */
  readonly reason: string | null;
  readonly begunAt: string;
  readonly endedAt: string | null;
  readonly usage: TurnUsage;
}

/** @throws StoreError `turn_not_found` */
export async function getTurn(_sql: Database, _turnId: string): Promise<TurnRow> {
  throw new Error('unwritten');
}

/** The snapshot that the turn began with, for activities of the turn. Never changes: safe to cache by turn id. */
export async function readSnapshot(
  _sql: Database,
  _turnId: string,
): Promise<{ readonly snapshot: AgentSnapshot; readonly fixed: Measurements }> {
  throw new Error('unwritten');
}

/** How far the message with this id has come: `waiting` (no turn took it), or the turn that did. `null`: no such message. */
export async function readTurnForMessage(
  _sql: Database,
  _messageId: string,
): Promise<{ readonly state: 'waiting' } | { readonly state: 'taken'; readonly turn: TurnRow } | null> {
  throw new Error('unwritten');
}
