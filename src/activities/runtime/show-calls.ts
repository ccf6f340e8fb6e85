/** What others see of a call: its text while it arrives, and what its span says. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamDelta, ReportedUsage, StopReason } from '../../models/model-client.ts';
import { liveTextChannel } from '../../store/log/live-text-channel.ts';
import type { LiveText } from '../../store/log/live-text-channel.ts';
import type { Execution } from './activity.ts';
import { trace } from '@opentelemetry/api';
import type { Attributes } from '@opentelemetry/api';
import { textOf } from '../../context/log/content.ts';
import type { ContentPart } from '../../context/log/content.ts';

/** Milliseconds for which deltas are gathered: fast enough to read along, few enough notifications. */
const BATCH_MILLISECONDS = 60;
/** Longest notification. Postgres takes payloads under 8,000 bytes, and JSON may need six bytes for one character (`\u0000`). */
const NOTIFICATION_CHARACTERS = 1_200;
/** Longest tool name that is sent. Characters. */
const LONGEST_NAME = 64;
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
  /** Characters sent so far. */
  offset: number;
}

/**
 * Sends deltas through NOTIFY in batches, one notification at a time. Neither a slow database nor a slow reader holds up the model call:
 * `write` never waits, and `close` gives the rest up after a moment.
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
  let sending = Promise.resolve();

  const sendPending = async (stream: Stream): Promise<void> => {
    while (stream.pending !== '') {
      const text = stream.pending.slice(0, NOTIFICATION_CHARACTERS);
      const live: LiveText = { ...address, ...stream.about, offset: stream.offset, text };
      stream.pending = stream.pending.slice(text.length);
      stream.offset += text.length;
      try {
        await notifier.notify(channel, JSON.stringify(live));
      } catch {
        // A gap that readers notice. It must never fail the model call.
      }
    }
  };

  const flush = (): void => {
    timer = null;
    for (const stream of streams.values()) sending = sending.then(async () => sendPending(stream));
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
      for (const stream of streams.values()) stream.pending = '';
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

/** Shows the answer while it arrives, and counts its characters for Temporal, where a stalled stream stops counting. */
export function showDeltas(live: LiveTextWriter, execution: Pick<Execution, 'report'>): (delta: StreamDelta) => void {
  const characters = { thinking: 0, text: 0, tool_call: 0 };
  return (delta) => {
    live.write(delta);
    characters[delta.kind] += delta.kind === 'tool_call' ? delta.argumentsText.length : delta.text.length;
    execution.report({ ...characters });
  };
}

/** OpenTelemetry's own variable: with `true` texts go to the collector. */
const SHOWS_TEXT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';

/** What `telemetry.content` of the configuration asks for. */
export function traceTexts(): void {
  process.env[SHOWS_TEXT] = 'true';
}

/** Of each text. Collectors drop a span that is larger than some megabytes. Characters. */
const LONGEST_TEXT = 20_000;

/**
 * What the span under way says of a call beside its events. Without an SDK of OpenTelemetry in the process, this does nothing.
 * @param called of a call that no event tells, as a summary's
 */
export function traceAnswer(
  { content, stopReason, usage }: { content: readonly ContentPart[]; stopReason: StopReason; usage?: ReportedUsage },
  called?: { readonly model: string },
): void {
  const [provider = '', ...model] = called?.model.split('/') ?? [];
  trace.getActiveSpan()?.setAttributes({
    ...(called !== undefined && {
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model.join('/'),
      'gen_ai.usage.input_tokens': usage?.input ?? 0,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheRead ?? 0,
      'gen_ai.usage.output_tokens': usage?.output ?? 0,
    }),
    ...texts(() => {
      const message = { role: 'assistant', parts: content.flatMap(partOf), finish_reason: stopReason };
      return { 'gen_ai.output.messages': JSON.stringify([message]) };
    }),
  });
}

export function traceToolCall(argumentsText: string, result: readonly ContentPart[]): void {
  trace.getActiveSpan()?.setAttributes(
    texts(() => ({
      'gen_ai.tool.call.arguments': argumentsText.slice(0, LONGEST_TEXT),
      'gen_ai.tool.call.result': textOf(result).slice(0, LONGEST_TEXT),
    })),
  );
}

function texts(of: () => Attributes): Attributes {
  return process.env[SHOWS_TEXT] === 'true' ? of() : {};
}

function partOf(part: ContentPart): object[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', content: part.text.slice(0, LONGEST_TEXT) }];
    case 'thinking':
      return [{ type: 'reasoning', content: part.text.slice(0, LONGEST_TEXT) }];
    case 'tool_call':
      return [{ type: 'tool_call', id: part.id, name: part.name, arguments: part.arguments.slice(0, LONGEST_TEXT) }];
    default:
      return [];
  }
}
