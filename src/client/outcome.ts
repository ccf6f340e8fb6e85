import type { z } from 'zod';
import { textOf } from '../context/log/content.ts';
import type { Database } from '../store/database/database.ts';
import { EVENTS_CHANNEL } from '../store/log/events.ts';
import type { Listeners } from '../store/database/listen.ts';
import { readFinalAnswer } from '../store/log/entries.ts';
import { readTurnForMessage } from '../store/turns/turns.ts';
import type { TurnRow } from '../store/turns/turns.ts';
import { outputIn } from '../turn/final-output.ts';
import { requireConversation, summarizeTurn } from './conversation.ts';
import { HoldfastClientError } from './errors.ts';
import type { EndedTurn, ServedCommand } from './types.ts';

/** Looked for this often without a notification, which can be lost with its connection. Milliseconds. */
const LOOK_INTERVAL_MILLISECONDS = 2_000;
/** Milliseconds that the last look gets after the time-out: a silent Postgres would never answer it. */
const LAST_LOOK_MILLISECONDS = 5_000;

export const SERVED_COMMAND: ServedCommand = {
  turnId: null,
  state: 'served',
  outcome: 'nothing_to_do',
  reason: null,
  explanation: 'The command had nothing to act on: no turn was running, or the task was done.',
  text: '',
};

interface WaitOptions {
  readonly conversationId: string;
  readonly messageId: string;
  readonly timeoutMilliseconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until the turn that took a message has ended, and returns its row: the row is the truth, not the workflow's result.
 * `served`: a command that no turn had to take.
 */
export async function waitForEndedTurn(
  database: Database,
  listeners: Listeners,
  options: WaitOptions,
): Promise<TurnRow | 'served'> {
  const { conversationId, timeoutMilliseconds = Infinity, signal } = options;
  signal?.throwIfAborted();
  let wake = (): void => undefined;
  const listening = listeners.listen({
    channel: EVENTS_CHANNEL,
    receive: (payload) => payload.startsWith(conversationId) && wake(),
    begun: () => wake(),
    // The next look fails too, and tells.
    failed: () => wake(),
  });
  const timers = [setInterval(() => wake(), LOOK_INTERVAL_MILLISECONDS)];
  let abort = (): void => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal?.reason);
    if (timeoutMilliseconds === Infinity) return;
    timers.push(setTimeout(() => wake(), timeoutMilliseconds));
    timers.push(setTimeout(() => reject(timedOut(options)), timeoutMilliseconds + LAST_LOOK_MILLISECONDS));
  });
  signal?.addEventListener('abort', abort);
  const deadline = performance.now() + timeoutMilliseconds;
  let isOver = false;
  const look = async (): Promise<TurnRow | 'served'> => {
    for (;;) {
      const rung = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const ended = await readEnded(database, options);
      if (ended !== null) return ended;
      if (performance.now() >= deadline) throw timedOut(options);
      await rung;
      if (isOver) return stopped;
    }
  };
  try {
    return await Promise.race([look(), stopped]);
  } finally {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    listening.end();
    wake();
  }
}

/** The turn with its final answer. */
export async function describeEndedTurn<Output>(
  database: Database,
  row: TurnRow,
  form?: z.ZodType<Output>,
): Promise<EndedTurn<Output>> {
  const texts = (await readFinalAnswer(database, row.turn.turnId)).map(textOf);
  const found =
    row.outcome === 'completed' && form !== undefined ? outputIn(texts, form) : { problem: 'none was asked for' };
  const { outcome, explanation, ...summary } = summarizeTurn(row);
  if (outcome === null || explanation === null) throw new TypeError('a turn that was waited for has ended');
  // An answer that was cut at the maximum output goes on in the next entry, where it was cut.
  const output = 'value' in found ? { output: found.value } : {};
  return { ...summary, state: 'ended', outcome, explanation, text: texts.join(''), ...output };
}

/** `null`: not yet. @throws HoldfastClientError `conversation_not_found`, `invalid_argument` */
async function readEnded(database: Database, message: WaitOptions): Promise<TurnRow | 'served' | null> {
  const { conversationId, messageId } = message;
  const found = await readTurnForMessage(database, { conversationId, messageId });
  if (found === null) {
    await requireConversation(database, conversationId);
    throw new HoldfastClientError(
      'invalid_argument',
      `conversation "${conversationId}" has no message "${messageId}"`,
      {
        next: 'Use the id that a send returned.',
      },
    );
  }
  if (found.state === 'taken') return found.turn.outcome === null ? null : found.turn;
  return found.state === 'served' ? 'served' : null;
}

function timedOut({ messageId, timeoutMilliseconds }: WaitOptions): HoldfastClientError {
  return new HoldfastClientError(
    'timeout',
    `the turn of message "${messageId}" has not ended after ${timeoutMilliseconds} ms: it goes on; wait again or stop it`,
  );
}
