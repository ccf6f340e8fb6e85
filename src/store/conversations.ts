import type { TurnOutcome } from '../turn/turn-reference.ts';
import type { Measurements } from '../context/measurements.ts';
import type { Database } from './database.ts';
import type { TurnUsage } from './turns.ts';

/** `working`: a turn is open. `waiting`: rows wait and no turn is open. `idle`: neither. */
export type ConversationState = 'working' | 'waiting' | 'idle';

export interface ConversationRow {
  readonly id: string;
  readonly agent: string;
  readonly state: ConversationState;
  readonly createdAt: string;
  /** Of the newest message, turn begin or turn end. */
  readonly activeAt: string;
  readonly activeTurnId: string | null;
  /** Outcome of the newest turn that ended. */
  readonly lastOutcome: TurnOutcome | null;
  readonly epoch: number;
  readonly headEntryId: string | null;
  readonly entries: number;
  readonly compactions: number;
  readonly waitingMessages: number;
  readonly usage: TurnUsage;
  /** Start of the first message, at most 120 characters. */
  readonly title: string;
}

/** `null` when there is none, also for an id that is not a UUID. */
export async function getConversation(_sql: Database, _conversationId: string): Promise<ConversationRow | null> {
  throw new Error('unwritten');
}

/** Newest activity first; page on with the last row's `activeAt` and `id`. */
export async function listConversations(
  _sql: Database,
  _request: {
    readonly state?: ConversationState;
    readonly agent?: string;
    /** Default 50, at most 500. */
    readonly limit?: number;
    readonly before?: { readonly activeAt: string; readonly id: string };
  },
): Promise<ConversationRow[]> {
  throw new Error('unwritten');
}

/** What fills the window, as measurements by kind; an estimator turns them into a `WindowBreakdown`. */
export interface WindowMeasurements {
  readonly fixed: Measurements;
  readonly summary: Measurements;
  readonly userMessages: Measurements;
  readonly assistantMessages: Measurements;
  readonly toolResults: Measurements;
  readonly notes: Measurements;
  readonly total: Measurements;
}

/** Of the conversation's view as it stands; `null` before its first turn. */
export async function readWindow(_sql: Database, _conversationId: string): Promise<WindowMeasurements | null> {
  throw new Error('unwritten');
}
