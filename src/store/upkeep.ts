import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';
import type { CloseToolCall } from './tool-calls.ts';

/**
 * Conversations with rows that wait for longer than `olderThanSeconds` although ringing would help: no turn is
 * open, or a command or steering message waits beside an open one. Oldest row first.
 */
export async function findWaitingConversations(
  _sql: Database,
  _request: { readonly olderThanSeconds: number; readonly limit?: number },
): Promise<{ readonly conversationId: string }[]> {
  throw new Error('unwritten');
}

/** Open turns with the workflow that should be working on them, oldest first. */
export async function findOpenTurns(
  _sql: Database,
  _request: { readonly olderThanSeconds: number; readonly limit?: number },
): Promise<{ readonly turn: TurnReference; readonly workflowId: string; readonly runId: string }[]> {
  throw new Error('unwritten');
}

/**
 * Temporal no longer knows the turn's workflow: ends it as `interrupted`, closes its open tool calls
 * and raises the epoch, so that a worker that still believes in it cannot write. `false` when the
 * turn was ended or taken over meanwhile.
 */
export async function markInterrupted(
  _sql: Database,
  _turn: TurnReference,
  _closeToolCall: CloseToolCall,
): Promise<boolean> {
  throw new Error('unwritten');
}

/** Conversations whose search index is behind, most behind first. */
export async function findUnindexedConversations(
  _sql: Database,
  _request: { readonly limit?: number },
): Promise<{ readonly conversationId: string }[]> {
  throw new Error('unwritten');
}
