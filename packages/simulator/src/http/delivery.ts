import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Frame } from '../core/answer.ts';
import type { Fault } from '../faults/fault.ts';

/** How fast an answer comes. */
export interface Pace {
  /** Milliseconds until the first token. */
  readonly latency: number;
  /** 0: as fast as possible. */
  readonly tokensPerSecond: number;
}

/** An answer on its way: everything that is decided about it. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly pace: Pace;
  /** Ends when the first token may come, or the client has gone. */
  readonly release: (gone: AbortSignal) => Promise<void>;
  readonly fault: Fault | undefined;
  readonly errorFrame: (status: number, message: string) => Frame;
}

/** A pause shorter than this is not worth a timer, milliseconds. */
const SHORTEST_PAUSE = 4;

const MILLISECONDS_PER_SECOND = 1000;

/** Closes the connection with a reset, as a crashed server or a broken network does. */
export function resetConnection(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

/** Never answers; ends when the client gives up or the server closes. */
export async function hang(outgoing: ServerResponse): Promise<void> {
  if (!outgoing.destroyed) await once(outgoing, 'close');
}

/** Sends a whole body at once. */
export function sendBody(
  outgoing: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): void {
  const isText = typeof body === 'string';
  const payload = Buffer.from(isText ? body : JSON.stringify(body));
  outgoing.writeHead(status, {
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
    'content-length': payload.byteLength,
    ...headers,
  });
  outgoing.end(payload);
}

/** Resolves early when the client has gone. */
async function pause(milliseconds: number, gone: AbortSignal): Promise<void> {
  if (milliseconds < SHORTEST_PAUSE || gone.aborted) return;
  await wait(milliseconds, undefined, { signal: gone }).catch(() => undefined);
}

function watchClient(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  return gone.signal;
}

/** Waits as long as the whole answer takes, then sends it. */
export async function deliverBody(
  outgoing: ServerResponse,
  delivery: Delivery,
  body: object,
  tokens: number,
): Promise<void> {
  const gone = watchClient(outgoing);
  await delivery.release(gone);
  await pause(delivery.pace.latency + paceMilliseconds(delivery.pace, tokens), gone);
  if (gone.aborted) return;
  if (isStreamFault(delivery.fault)) return breakConnection(outgoing, delivery);
  sendBody(outgoing, 200, body, delivery.headers);
}

function paceMilliseconds(pace: Pace, tokens: number): number {
  return pace.tokensPerSecond === 0 ? 0 : (tokens / pace.tokensPerSecond) * MILLISECONDS_PER_SECOND;
}

type StreamFault = Extract<Fault, { afterBytes: number }>;

function isStreamFault(fault: Fault | undefined): fault is StreamFault {
  return fault !== undefined && 'afterBytes' in fault;
}

function renderFrame(frame: Frame): string {
  const event = frame.event === undefined ? '' : `event: ${frame.event}\n`;
  return `${event}data: ${JSON.stringify(frame.data)}\n\n`;
}

/** Streams an answer frame by frame at its pace, and breaks it where the fault says. */
export async function deliverStream(
  outgoing: ServerResponse,
  delivery: Delivery,
  frames: Iterable<Frame>,
  trailer: string,
): Promise<void> {
  const gone = watchClient(outgoing);
  const { pace, fault } = delivery;
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...delivery.headers,
  });
  outgoing.flushHeaders();
  await delivery.release(gone);
  await pause(pace.latency, gone);
  const started = performance.now();
  let bytesLeft = isStreamFault(fault) ? fault.afterBytes : Infinity;
  let tokens = 0;
  for (const frame of frames) {
    if (gone.aborted) return;
    const payload = Buffer.from(renderFrame(frame));
    if (payload.byteLength > bytesLeft) {
      await write(outgoing, cutPayload(payload, bytesLeft, fault), gone);
      return breakConnection(outgoing, delivery);
    }
    bytesLeft -= payload.byteLength;
    await write(outgoing, payload, gone);
    tokens += frame.tokens;
    await pause(started + paceMilliseconds(pace, tokens) - performance.now(), gone);
  }
  if (isStreamFault(fault)) return breakConnection(outgoing, delivery);
  outgoing.end(trailer);
}

/** A cut may fall anywhere in an event; an error is an event of its own and comes between two. */
function cutPayload(payload: Buffer, bytesLeft: number, fault: Fault | undefined): Buffer {
  return fault?.kind === 'stream_error' ? Buffer.alloc(0) : payload.subarray(0, bytesLeft);
}

async function write(outgoing: ServerResponse, payload: Buffer, gone: AbortSignal): Promise<void> {
  if (payload.byteLength === 0 || gone.aborted) return;
  if (!outgoing.write(payload)) await once(outgoing, 'drain', { signal: gone }).catch(() => undefined);
}

async function breakConnection(outgoing: ServerResponse, delivery: Delivery): Promise<void> {
  const { fault } = delivery;
  if (fault?.kind === 'stall_stream') return hang(outgoing);
  if (fault?.kind === 'stream_error') {
    if (!outgoing.headersSent)
      outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...delivery.headers });
    outgoing.end(renderFrame(delivery.errorFrame(fault.status, 'Overloaded')));
    return;
  }
  // An end without the answer's own ending; unlike a reset it cannot overtake what was written.
  outgoing.socket?.destroySoon();
}
