import { z } from 'zod';
import { definedOf } from '../context/policy/defined-of.ts';
import type { Database } from '../store/database/database.ts';
import type { Listeners } from '../store/database/listen.ts';
import { EVENTS_CHANNEL, listEvents } from '../store/log/events.ts';
import type { EventRow } from '../store/log/events.ts';
import { liveTextChannel } from '../store/log/live-text-channel.ts';
import { requireConversation } from './conversation.ts';
import type { WatchUpdate } from './types.ts';

/** Events read in one query. */
export const EVENTS_PAGE = 500;
/** A notification can be lost with its connection; events are looked for this often without one. Milliseconds. */
const LOOK_INTERVAL_MILLISECONDS = 2_000;

/** Who follows a conversation. */
export interface Follower {
  /** The event up to which it has all, if it takes what comes next from the feed; else `null`: it reads by itself. */
  readonly position: () => number | null;
  /** Events in order that come next, or a look that found none. */
  readonly take: (rows: readonly EventRow[]) => void;
  /** What it has by then may not be all. */
  readonly look: () => void;
  readonly live: ((update: WatchUpdate) => void) | null;
  readonly fail: (error: unknown) => void;
}

/** Conversations that are followed, by the connections of who may see them. */
const feeds = new WeakMap<Database, Map<string, Feed>>();

/** Reads events of a conversation once for all of a process that follow it. @returns ends it */
export function follow(source: FeedSource, follower: Follower): () => void {
  const { database, conversationId } = source;
  const open = feeds.get(database) ?? new Map<string, Feed>();
  feeds.set(database, open);
  const feed = open.get(conversationId) ?? new Feed(source);
  open.set(conversationId, feed);
  feed.add(follower);
  return () => {
    if (feed.remove(follower) > 0) return;
    feed.end();
    if (open.get(conversationId) === feed) open.delete(conversationId);
  };
}

interface FeedSource {
  readonly database: Database;
  readonly listeners: Listeners;
  readonly conversationId: string;
}

class Feed {
  readonly #source: FeedSource;
  readonly #followers = new Set<Follower>();
  readonly #timer: NodeJS.Timeout;
  readonly #listening: { end(): void }[] = [];
  #isListeningLive = false;
  #again = false;
  #isReading = false;

  constructor(source: FeedSource) {
    this.#source = source;
    const { conversationId } = source;
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MILLISECONDS);
    this.#listen(EVENTS_CHANNEL, (payload) => payload.startsWith(conversationId) && this.#look());
  }

  add(follower: Follower): void {
    this.#followers.add(follower);
    if (follower.live === null || this.#isListeningLive) return;
    this.#isListeningLive = true;
    this.#listen(liveTextChannel(this.#source.conversationId), (payload) => this.#tellLive(payload));
  }

  /** @returns how many are left */
  remove(follower: Follower): number {
    this.#followers.delete(follower);
    return this.#followers.size;
  }

  end(): void {
    clearInterval(this.#timer);
    for (const one of this.#listening) one.end();
  }

  #listen(channel: string, receive: (payload: string) => unknown): void {
    const failed = (error: unknown): void => this.#fail(error);
    this.#listening.push(this.#source.listeners.listen({ channel, receive, failed, begun: () => this.#look() }));
  }

  /** Looks that come while one is under way become one more. */
  #look(): void {
    this.#again = true;
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#read()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #read(): Promise<void> {
    const { database, conversationId } = this.#source;
    do {
      this.#again = false;
      const positions = [...this.#followers].map((follower) => follower.position());
      for (const follower of this.#followers) if (follower.position() === null) follower.look();
      const known = positions.filter((position) => position !== null);
      if (known.length === 0) return;
      const after = Math.min(...known);
      const rows = await listEvents(database, { conversationId, after, limit: EVENTS_PAGE });
      if (rows.length === 0) await requireConversation(database, conversationId);
      for (const follower of this.#followers) {
        const position = follower.position();
        // Who came to the end of its own reading meanwhile may lack what stands before these.
        if (position === null || position < after) follower.look();
        else follower.take(rows.filter(({ number }) => number > position));
      }
      if (rows.length === EVENTS_PAGE) this.#again = true;
    } while (this.#again);
  }

  #tellLive(payload: string): void {
    const text = liveText.safeParse(JSON.parse(payload));
    // A newer worker may send kinds that are not known here.
    if (!text.success) return;
    const { callIndex, toolName, ...piece } = text.data;
    const update: WatchUpdate = { type: 'live_text', text: { ...piece, ...definedOf({ callIndex, toolName }) } };
    for (const { live } of this.#followers) live?.(update);
  }

  /** Whoever follows from then on has a feed of its own. */
  #fail(error: unknown): void {
    const { database, conversationId } = this.#source;
    if (feeds.get(database)?.get(conversationId) === this) feeds.get(database)?.delete(conversationId);
    for (const follower of this.#followers) follower.fail(error);
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
