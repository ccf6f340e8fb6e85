import type { Sql } from 'postgres';
import type { StreamDelta } from '../models/model-client.ts';
import { liveTextChannel } from '../store/live-text-channel.ts';

/** Milliseconds that deltas are gathered before they are sent: fast enough to read along, few enough notifications. */
const BATCH_MILLISECONDS = 60;
/**
 * Characters of one notification. Postgres takes payloads under 8,000 bytes, and JSON may need six
 * bytes for one character (`\u0000`).
 */
const NOTIFICATION_CHARACTERS = 1_200;

/** One piece of live text. Not stored: a reader that misses one reads the entry when it is there. */
export interface LiveText {
  readonly turnId: string;
  readonly callNumber: number;
  /** A higher attempt supersedes what a lower one has sent. */
  readonly attempt: number;
  readonly kind: 'text' | 'thinking';
  /** Characters of this kind that came before: a jump is a gap. */
  readonly offset: number;
  readonly text: string;
}

export interface LiveTextWriter {
  write(delta: StreamDelta): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

/**
 * Sends deltas through NOTIFY in batches.
 *
 * @param sql a connection of its own, never one whose transactions write rows: a notification
 * inside a transaction waits for its commit and takes a lock that all notifying transactions share.
 */
export function openLiveText(
  sql: Sql,
  call: { conversationId: string; turnId: string; callNumber: number; attempt: number },
): LiveTextWriter {
  const channel = liveTextChannel(call.conversationId);
  const pending = { text: '', thinking: '' };
  const sent = { text: 0, thinking: 0 };
  let timer: NodeJS.Timeout | null = null;
  let sending = Promise.resolve();

  const flush = (): void => {
    timer = null;
    for (const kind of ['thinking', 'text'] as const) {
      const gathered = pending[kind];
      pending[kind] = '';
      for (let start = 0; start < gathered.length; start += NOTIFICATION_CHARACTERS) {
        const text = gathered.slice(start, start + NOTIFICATION_CHARACTERS);
        const live: LiveText = {
          turnId: call.turnId,
          callNumber: call.callNumber,
          attempt: call.attempt,
          kind,
          offset: sent[kind],
          text,
        };
        sent[kind] += text.length;
        // A lost notification is a gap that readers notice; it must never fail the model call.
        sending = sending.then(() => sql.notify(channel, JSON.stringify(live))).then(nothing, nothing);
      }
    }
  };

  return {
    write(delta) {
      if (delta.kind === 'tool_call') return;
      pending[delta.kind] += delta.text;
      timer ??= setTimeout(flush, BATCH_MILLISECONDS);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      flush();
      await sending;
    },
  };
}

const nothing = (): void => undefined;
