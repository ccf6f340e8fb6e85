import type { Database } from '../store/database.ts';
import { EVENTS_CHANNEL } from '../store/events.ts';
import type { Listeners } from '../store/listen.ts';
import { readTurnForMessage } from '../store/turns.ts';
import type { TurnRow } from '../store/turns.ts';
import { requireConversation } from './conversation.ts';
import { HoldfastClientError } from './errors.ts';

/** Looked for this often without a notification, which can be lost with its connection. Milliseconds. */
const LOOK_INTERVAL_MILLISECONDS = 2_000;

/**
 * Waits until the turn that took a message has ended, and returns its row: the row is the truth, not the workflow's result.
 * `served`: a command that no turn had to take.
 */
export async function waitForEndedTurn(
  database: Database,
  listeners: Listeners,
  options: {
    conversationId: string;
    messageId: string;
    timeoutMilliseconds?: number | undefined;
    signal?: AbortSignal | undefined;
  },
): Promise<TurnRow | 'served'> {
  const { conversationId, messageId, timeoutMilliseconds, signal } = options;
  signal?.throwIfAborted();
  let wake = (): void => undefined;
  const listening = listeners.listen({
    channel: EVENTS_CHANNEL,
    receive: (payload) => payload.startsWith(conversationId) && wake(),
    begun: () => wake(),
    // The next look fails too, and tells.
    failed: () => wake(),
  });
  const timer = setInterval(() => wake(), LOOK_INTERVAL_MILLISECONDS);
  const onAbort = (): void => wake();
  signal?.addEventListener('abort', onAbort);
  const deadline = timeoutMilliseconds === undefined ? Infinity : performance.now() + timeoutMilliseconds;
  const timeout = timeoutMilliseconds === undefined ? undefined : setTimeout(() => wake(), timeoutMilliseconds);
  try {
    for (;;) {
      const rung = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const found = await readTurnForMessage(database, { conversationId, messageId });
      signal?.throwIfAborted();
      if (found === null) {
        await requireConversation(database, conversationId);
        throw new HoldfastClientError(
          'invalid_argument',
          `conversation "${conversationId}" has no message "${messageId}"`,
          { advice: 'use the id that a send returned' },
        );
      }
      if (found.state === 'taken' && found.turn.outcome !== null) return found.turn;
      if (found.state === 'served') return 'served';
      if (performance.now() >= deadline) {
        throw new HoldfastClientError(
          'timeout',
          `the turn of message "${messageId}" has not ended after ${timeoutMilliseconds} ms: it goes on; wait again or stop it`,
        );
      }
      await rung;
    }
  } finally {
    clearInterval(timer);
    clearTimeout(timeout);
    signal?.removeEventListener('abort', onAbort);
    listening.end();
  }
}
