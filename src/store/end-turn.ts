import type { WindowBreakdown } from '../context/plan.ts';
import type { InboxLook } from '../turn/activity-values.ts';
import type { TurnOutcome, TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';
import type { CloseToolCall } from './tool-calls.ts';

export interface EndTurnRequest {
  readonly turn: TurnReference;
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
  /** What fills the window, for `context_exhausted`. */
  readonly breakdown: WindowBreakdown | null;
}

export interface EndedTurn {
  /** The outcome that stands: the first one stored. */
  readonly outcome: TurnOutcome;
  /** Looked up by each call, never stored: what waits for the next turn. */
  readonly waiting: InboxLook;
}

/**
 * Ends the turn once: stores outcome and reason, closes open tool calls with a result that says so,
 * abandons a planned compaction, consumes the stops that were meant for it. Repeating it changes nothing.
 * @throws StoreError `stale_epoch`
 */
export async function endTurn(
  _sql: Database,
  _request: EndTurnRequest,
  _closeToolCall: CloseToolCall,
): Promise<EndedTurn> {
  throw new Error('unwritten');
}
