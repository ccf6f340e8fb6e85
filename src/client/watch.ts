import type { Database } from '../store/database/database.ts';
import type { Listeners } from '../store/database/listen.ts';
import { listEvents } from '../store/log/events.ts';
import type { EventRow } from '../store/log/events.ts';
import { EVENTS_PAGE, follow } from './conversation-feed.ts';
import type { Follower } from './conversation-feed.ts';
import { requireConversation } from './conversation.ts';
import { clientError } from './errors.ts';
import type { TimelineEvent, WatchOptions, WatchUpdate } from './types.ts';
import { createUpdateQueue } from './update-queue.ts';
import type { UpdateQueue } from './update-queue.ts';

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
  const live = options.liveText === false ? null : (update: WatchUpdate): void => queue.push(update);
  const fail = (error: unknown): void => queue.fail(error);
  const onAbort = (): void => queue.end();
  signal?.addEventListener('abort', onAbort, { once: true });
  const leave = follow({ database, listeners, conversationId }, { ...reader, live, fail });
  try {
    reader.look();
    if (signal?.aborted === true) return;
    yield* queue;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    leave();
    queue.end();
  }
}

/** Reads what was there before by itself, and whenever it falls behind what the feed reads for all. */
function createEventReader(
  database: Database,
  conversationId: string,
  after: number,
  queue: UpdateQueue<WatchUpdate>,
): Pick<Follower, 'position' | 'take' | 'look'> {
  let last = after;
  let again = false;
  let reading: Promise<void> | null = null;
  const push = (rows: readonly EventRow[]): void => {
    for (const row of rows) {
      last = row.number;
      queue.push({ type: 'event', event: timelineEvent(row) });
    }
  };
  const read = async (): Promise<void> => {
    do {
      again = false;
      if (!(await queue.room())) return;
      const rows = await listEvents(database, { conversationId, after: last, limit: EVENTS_PAGE });
      if (rows.length === 0) await requireConversation(database, conversationId);
      push(rows);
      if (rows.length === EVENTS_PAGE) again = true;
    } while (again);
  };
  const look = (): void => {
    again = true;
    reading ??= read()
      .catch((error: unknown) => queue.fail(error))
      .finally(() => {
        reading = null;
      });
  };
  return {
    position: () => (reading === null ? last : null),
    take: (rows) => {
      if (rows.length === 0) return;
      if (queue.isFull()) look();
      else push(rows);
    },
    look,
  };
}

export function timelineEvent({ number: sequence, ...event }: EventRow): TimelineEvent {
  return { ...event, sequence };
}
