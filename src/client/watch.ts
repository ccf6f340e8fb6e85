import { z } from 'zod';
import { definedOf } from '../context/policy/defined-of.ts';
import type { Database } from '../store/database/database.ts';
import { EVENTS_CHANNEL, listEvents } from '../store/log/events.ts';
import type { EventRow } from '../store/log/events.ts';
import type { Listeners } from '../store/database/listen.ts';
import { liveTextChannel } from '../store/log/live-text-channel.ts';
import { requireConversation } from './conversation.ts';
import { clientError } from './errors.ts';
import type { TimelineEvent, WatchOptions, WatchUpdate } from './types.ts';
import { createUpdateQueue } from './update-queue.ts';
import type { UpdateQueue } from './update-queue.ts';

/** Events read in one query. */
const PAGE = 500;
/** A notification can be lost with its connection; events are looked for this often without one. Milliseconds. */
const LOOK_INTERVAL_MILLISECONDS = 2_000;
/** Updates kept for a reader that stands still: past it events stay in their table, and the oldest live text is lost. */
const MOST_WAITING = 1_000;

/**
 * Events of a conversation in order, each once, and live text as it comes. Events are read from
 * their table, notifications only say when: what a lost connection missed is found by the next look, and so is a deletion.
 */
export async function* watchConversation(
  database: Database,
  listeners: Listeners,
  options: WatchOptions,
): AsyncGenerator<WatchUpdate> {
  try {
    if (options.signal?.aborted === true) return;
    yield* updatesOf(database, listeners, options);
  } catch (error) {
    throw clientError(error);
  }
}

async function* updatesOf(
  database: Database,
  listeners: Listeners,
  options: WatchOptions,
): AsyncGenerator<WatchUpdate> {
  const { conversationId, signal } = options;
  const queue = createUpdateQueue<WatchUpdate>({
    most: MOST_WAITING,
    mayBeDropped: (update) => update.type === 'live_text',
  });
  const reader = createEventReader(database, conversationId, options.afterSequence ?? 0, queue);
  const channel = conversationChannel(options.liveText ?? true, conversationId, queue);
  const onAbort = (): void => queue.end();
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setInterval(() => reader.look(), LOOK_INTERVAL_MILLISECONDS);
  const failed = (error: unknown): void => queue.fail(error);
  const listening = [
    listeners.listen({
      channel: EVENTS_CHANNEL,
      receive: (payload) => payload.startsWith(conversationId) && reader.look(),
      begun: () => reader.look(),
      failed,
    }),
    ...channel.map(([name, receive]) => listeners.listen({ channel: name, receive, failed })),
  ];
  try {
    reader.look();
    if (signal?.aborted === true) return;
    yield* queue;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', onAbort);
    for (const one of listening) one.end();
    queue.end();
  }
}

const liveText = z.object({
  turnId: z.string(),
  callNumber: z.number(),
  attempt: z.number(),
  kind: z.enum(['text', 'thinking', 'tool_call']),
  callIndex: z.number().optional(),
  toolName: z.string().optional(),
  offset: z.number(),
  text: z.string(),
});

function conversationChannel(
  wanted: boolean,
  conversationId: string,
  queue: UpdateQueue<WatchUpdate>,
): [string, (payload: string) => void][] {
  if (!wanted) return [];
  return [
    [
      liveTextChannel(conversationId),
      (payload) => {
        const text = liveText.safeParse(JSON.parse(payload));
        // A newer worker may send kinds that are not known here.
        if (!text.success) return;
        const { callIndex, toolName, ...piece } = text.data;
        queue.push({ type: 'live_text', text: { ...piece, ...definedOf({ callIndex, toolName }) } });
      },
    ],
  ];
}

interface EventReader {
  /** Reads what is new; looks that come while one is under way become one more. */
  look(): void;
}

function createEventReader(
  database: Database,
  conversationId: string,
  after: number,
  queue: UpdateQueue<WatchUpdate>,
): EventReader {
  let last = after;
  let again = false;
  let reading: Promise<void> | null = null;
  const read = async (): Promise<void> => {
    do {
      again = false;
      if (!(await queue.room())) return;
      const rows = await listEvents(database, { conversationId, after: last, limit: PAGE });
      if (rows.length === 0) await requireConversation(database, conversationId);
      for (const row of rows) {
        last = row.number;
        queue.push({ type: 'event', event: timelineEvent(row) });
      }
      if (rows.length === PAGE) again = true;
    } while (again);
  };
  return {
    look() {
      again = true;
      reading ??= read()
        .catch((error: unknown) => queue.fail(error))
        .finally(() => {
          reading = null;
        });
    },
  };
}

function timelineEvent({ number: sequence, ...event }: EventRow): TimelineEvent {
  return { ...event, sequence };
}
