import type { Database } from '../store/database/database.ts';
import type { Listeners } from '../store/database/listen.ts';
import { EVENTS_CHANNEL, listEvents } from '../store/log/events.ts';
import type { EventRow } from '../store/log/events.ts';
import { liveTextChannel } from '../store/log/live-text-channel.ts';
import { liveText } from './api/log-results.ts';
import { requireConversation } from './conversation.ts';
import { clientError } from './errors.ts';
import type { LiveTextUpdate, TimelineEvent, WatchOptions, WatchUpdate } from './types.ts';

/** Events read in one query. */
const PAGE = 500;
/** A notification can be lost with its connection; events are looked for this often without one. Milliseconds. */
const LOOK_INTERVAL_MILLISECONDS = 2_000;
/** Pieces of live text kept for a reader that stands still: past it the oldest are lost. Events wait in their table. */
const MOST_LIVE = 1_000;

/**
 * Events of a conversation in order, each once, and live text as it comes. Events are read from
 * their table, notifications only say when: what a lost connection missed is found by the next look, and so is a deletion.
 */
export async function* watchConversation(
  database: Database,
  listeners: Listeners,
  options: WatchOptions,
): AsyncGenerator<WatchUpdate> {
  const { conversationId, signal } = options;
  if (signal?.aborted === true) return;
  const watcher = new Watcher();
  const onAbort = (): void => watcher.end();
  signal?.addEventListener('abort', onAbort, { once: true });
  const feed = feedOf(database, listeners, conversationId);
  feed.watchers.add(watcher);
  const live = options.liveText === false ? null : listenForText(listeners, conversationId, watcher);
  try {
    yield* updatesFor(watcher, feed, options.afterSequence ?? 0);
  } catch (error) {
    throw clientError(error);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    live?.end();
    feed.leave(watcher);
  }
}

async function* updatesFor(watcher: Watcher, feed: Feed, after: number): AsyncGenerator<WatchUpdate> {
  let last = after;
  for (;;) {
    await watcher.news();
    if (watcher.ended !== null) break;
    const rows = watcher.takeLook() ? await watcher.unlessEnded(feed.read(last)) : [];
    for (const text of watcher.live.splice(0)) yield { type: 'live_text', text };
    for (const row of rows) {
      last = row.number;
      yield { type: 'event', event: timelineEvent(row) };
    }
    if (rows.length === PAGE) watcher.look();
  }
  if ('error' in watcher.ended) throw watcher.ended.error;
}

/** What is new for one who watches. */
class Watcher {
  readonly live: LiveTextUpdate[] = [];
  ended: { readonly error?: unknown } | null = null;
  #hasToLook = true;
  #wake = (): void => undefined;
  #interrupt = (): void => undefined;

  look(): void {
    this.#hasToLook = true;
    this.#wake();
  }

  /** Whether events are to be looked for. */
  takeLook(): boolean {
    const hasToLook = this.#hasToLook;
    this.#hasToLook = false;
    return hasToLook;
  }

  hear(piece: LiveTextUpdate): void {
    this.live.push(piece);
    if (this.live.length > MOST_LIVE) this.live.shift();
    this.#wake();
  }

  end(ended: { readonly error?: unknown } = {}): void {
    this.ended ??= ended;
    this.#interrupt();
    this.#wake();
  }

  async news(): Promise<void> {
    if (this.#hasToLook || this.live.length > 0 || this.ended !== null) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Nothing once it has ended, also when a silent Postgres never answers. */
  async unlessEnded<Row>(reading: Promise<readonly Row[]>): Promise<readonly Row[]> {
    const ending = new Promise<readonly Row[]>((resolve) => {
      this.#interrupt = () => resolve([]);
    });
    return Promise.race([reading, ending]);
  }
}

/** By the connections of who may see them, conversations that are watched. */
const feeds = new WeakMap<Database, Map<string, Feed>>();

function feedOf(database: Database, listeners: Listeners, conversationId: string): Feed {
  const open = feeds.get(database) ?? new Map<string, Feed>();
  feeds.set(database, open);
  const feed = open.get(conversationId) ?? new Feed(database, listeners, conversationId);
  open.set(conversationId, feed);
  return feed;
}

/** Reads the events of a conversation once for all of a process who have come equally far. */
class Feed {
  readonly watchers = new Set<Watcher>();
  readonly #database: Database;
  readonly #conversationId: string;
  readonly #timer: NodeJS.Timeout;
  readonly #listening: { end(): void };
  /** By the event behind which they read; those that began before the newest look are not among them. */
  readonly #reads = new Map<number, Promise<readonly EventRow[]>>();

  constructor(database: Database, listeners: Listeners, conversationId: string) {
    this.#database = database;
    this.#conversationId = conversationId;
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MILLISECONDS);
    this.#listening = listeners.listen({
      channel: EVENTS_CHANNEL,
      receive: (payload) => payload.startsWith(conversationId) && this.#look(),
      begun: () => this.#look(),
      failed: (error) => {
        // Whoever comes from then on has a feed of its own.
        this.#close();
        for (const watcher of this.watchers) watcher.end({ error });
      },
    });
  }

  read(after: number): Promise<readonly EventRow[]> {
    const reading = this.#reads.get(after) ?? this.#readRows(after);
    this.#reads.set(after, reading);
    return reading;
  }

  leave(watcher: Watcher): void {
    this.watchers.delete(watcher);
    if (this.watchers.size > 0) return;
    this.#close();
    this.#listening.end();
  }

  async #readRows(after: number): Promise<readonly EventRow[]> {
    const conversationId = this.#conversationId;
    const rows = await listEvents(this.#database, { conversationId, after, limit: PAGE });
    if (rows.length === 0) await requireConversation(this.#database, conversationId);
    return rows;
  }

  #look(): void {
    this.#reads.clear();
    for (const watcher of this.watchers) watcher.look();
  }

  #close(): void {
    clearInterval(this.#timer);
    const open = feeds.get(this.#database);
    if (open?.get(this.#conversationId) === this) open.delete(this.#conversationId);
  }
}

function listenForText(listeners: Listeners, conversationId: string, watcher: Watcher): { end(): void } {
  return listeners.listen({
    channel: liveTextChannel(conversationId),
    receive(payload) {
      const piece = liveText.safeParse(JSON.parse(payload));
      // A newer worker may send kinds that are not known here.
      if (piece.success) watcher.hear(piece.data);
    },
    failed: (error) => watcher.end({ error }),
  });
}

export function timelineEvent({ number: sequence, ...event }: EventRow): TimelineEvent {
  return { ...event, sequence };
}
