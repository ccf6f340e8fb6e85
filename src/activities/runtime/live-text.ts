import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamDelta } from '../../models/model-client.ts';
import { liveTextChannel } from '../../store/log/live-text-channel.ts';
import type { LiveText } from '../../store/log/live-text-channel.ts';
import type { Execution } from './activity.ts';

/** Milliseconds for which deltas are gathered: fast enough to read along, few enough notifications. */
const BATCH_MILLISECONDS = 60;
/** Longest notification. Postgres takes payloads under 8,000 bytes, and JSON may need six bytes for one character (`\u0000`). */
const NOTIFICATION_CHARACTERS = 1_200;
/** Longest tool name that is sent. Characters. */
const LONGEST_NAME = 64;
/** Pieces that may wait for a slow database, about a megabyte of text. Later ones are left out, and readers see a gap. */
const MOST_WAITING_PIECES = 1_000;
/** Milliseconds for the rest of the text after the answer is complete, because the answer must not wait for it. */
const CLOSE_MILLISECONDS = 500;

export interface LiveTextWriter {
  write(delta: StreamDelta): void;
  /** Sends the rest. */
  close(): Promise<void>;
}

/** The part of a connection that sends notifications. */
export interface Notifier {
  notify(channel: string, payload: string): PromiseLike<unknown>;
}

/** One kind of text, or one tool call, of the answer that is being written. */
interface Stream {
  readonly about: Pick<LiveText, 'kind' | 'callIndex' | 'toolName'>;
  pending: string;
  /** Characters so far, whether they were sent or left out. */
  offset: number;
}

/**
 * Sends deltas through NOTIFY in batches. Neither a slow database nor a slow reader holds up the model call: `write` never waits, the
 * queue is bounded, `close` gives up after a moment.
 * @param notifier a connection that never writes rows: a notification inside a transaction waits for its commit and takes a lock that all
 * notifying transactions share
 */
export function openLiveText(
  notifier: Notifier,
  call: { conversationId: string; turnId: string; callNumber: number; attempt: number },
): LiveTextWriter {
  const { conversationId, ...address } = call;
  const channel = liveTextChannel(conversationId);
  const streams = new Map<string, Stream>();
  let timer: NodeJS.Timeout | null = null;
  let waiting = 0;
  let sending = Promise.resolve();

  const send = ({ about, offset }: Stream, text: string): void => {
    if (waiting >= MOST_WAITING_PIECES) return;
    waiting += 1;
    const live: LiveText = { ...address, ...about, offset, text };
    // A lost notification is a gap that readers notice. It must never fail the model call.
    sending = sending
      .then(() => notifier.notify(channel, JSON.stringify(live)))
      .then(nothing, nothing)
      .finally(() => {
        waiting -= 1;
      });
  };

  const flush = (): void => {
    timer = null;
    for (const stream of streams.values()) {
      const gathered = stream.pending;
      stream.pending = '';
      for (let start = 0; start < gathered.length; start += NOTIFICATION_CHARACTERS) {
        const text = gathered.slice(start, start + NOTIFICATION_CHARACTERS);
        send(stream, text);
        stream.offset += text.length;
      }
    }
  };

  return {
    write(delta) {
      const text = delta.kind === 'tool_call' ? delta.argumentsText : delta.text;
      streamOf(streams, delta).pending += text;
      timer ??= setTimeout(flush, BATCH_MILLISECONDS);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      flush();
      await Promise.race([sending, sleep(CLOSE_MILLISECONDS, undefined, { ref: false })]);
    },
  };
}

function streamOf(streams: Map<string, Stream>, delta: StreamDelta): Stream {
  const key = delta.kind === 'tool_call' ? `${delta.kind} ${delta.index}` : delta.kind;
  const known = streams.get(key);
  if (known !== undefined) return known;
  const about =
    delta.kind === 'tool_call'
      ? { kind: delta.kind, callIndex: delta.index, toolName: (delta.name ?? '').slice(0, LONGEST_NAME) }
      : { kind: delta.kind };
  const stream: Stream = { about, pending: '', offset: 0 };
  streams.set(key, stream);
  return stream;
}

const nothing = (): void => undefined;

/** Shows the answer while it arrives, and counts its characters for Temporal, where a stalled stream stops counting. */
export function showDeltas(live: LiveTextWriter, execution: Pick<Execution, 'report'>): (delta: StreamDelta) => void {
  const characters = { thinking: 0, text: 0, tool_call: 0 };
  return (delta) => {
    live.write(delta);
    characters[delta.kind] += delta.kind === 'tool_call' ? delta.argumentsText.length : delta.text.length;
    execution.report({ ...characters });
  };
}
