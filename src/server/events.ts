import type { Context } from 'hono';
import { stream, streamSSE } from 'hono/streaming';
import type { SSEStreamingApi } from 'hono/streaming';
import { whole } from '../client/arguments.ts';
import type { Holdfast } from '../client/holdfast.ts';
import type { WatchUpdate } from '../client/types.ts';
import type { ServerLimits } from './limits.ts';
import type { Access } from './access.ts';
import { problemOf, RequestError } from './problem.ts';
import type { Admitted } from './admission.ts';

/** Seconds after which a caller may try again to watch. */
const RETRY_SECONDS = 5;
/** A connection that takes nothing for so many heartbeats is cut off: its reader stands still, and may come back. */
const MISSED_HEARTBEATS = 3;

const lastEventId = whole(0).optional();

interface WantedEvents {
  readonly conversationId: string;
  readonly afterSequence?: number | undefined;
  readonly liveText?: boolean | undefined;
}

/** An export holds a connection of its tenant's few for as long as it is read. */
type Waiting = 'watcher' | 'export';

/** Exports of a tenant at once, so that they leave connections to its other requests. */
const EXPORTS_OF_TENANT = 2;

/** Open event streams of one server, and whatever else lasts as long as its reader likes. */
export interface EventStreams {
  serve(context: Context<Admitted>, client: Holdfast, wanted: WantedEvents): Promise<Response>;
  /**
   * Takes a place. Aborts when the connection closes, with the caller's key, and with the server.
   * @throws RequestError `too_many_watchers`
   */
  endingOf(context: Context<Admitted>, kind?: Waiting): AbortController;
  /**
   * Opens a stream that ends with its caller, its key or the server. It is written no faster than it is read.
   * @param write ends when the signal aborts
   * @param failed writes what `write` threw
   * @param ending of a place that was taken before. Default: takes one
   */
  open(
    context: Context<Admitted>,
    write: (stream: SSEStreamingApi, signal: AbortSignal) => Promise<void>,
    failed: (stream: SSEStreamingApi, error: unknown) => Promise<void>,
    ending?: AbortController,
  ): Response;
  /**
   * Answers with JSON that is there only after a while: the head goes out at once and spaces follow, so that no client gives up and asks
   * again. What fails then cuts the connection.
   */
  answerLate(
    context: Context<Admitted>,
    ending: AbortController,
    read: (signal: AbortSignal) => Promise<unknown>,
  ): Response;
  /** Ends all, and waits for the look at their keys that is under way. */
  close(): Promise<void>;
}

export function createEventStreams(limits: ServerLimits, access: Access, log: (error: unknown) => void): EventStreams {
  const open: OpenStreams = new Map();
  const keyChecks = checkKeys(open, access, limits.keyCheckSeconds, log);
  const endingOf: EventStreams['endingOf'] = (context, kind = 'watcher') => takePlace(open, limits, context, kind);
  const openStream: EventStreams['open'] = (context, write, failed, ending = endingOf(context)) => {
    context.header('x-accel-buffering', 'no');
    cutOffStandstill(context, limits);
    return streamSSE(context, async (events) => {
      events.onAbort(() => ending.abort());
      const stopBeating = beat(() => events.write(': \n\n'), limits.heartbeatSeconds);
      try {
        await write(events, ending.signal);
        if (ending.signal.reason instanceof RequestError) throw ending.signal.reason;
      } catch (error) {
        await failed(events, error);
      } finally {
        stopBeating();
      }
    });
  };
  return {
    endingOf,
    open: openStream,
    answerLate(context, ending, read) {
      context.header('content-type', 'application/json');
      cutOffStandstill(context, limits);
      return stream(context, async (body) => {
        const stopBeating = beat(() => body.write(' '), limits.heartbeatSeconds);
        await read(ending.signal)
          .then((value) => body.write(JSON.stringify(value)))
          .catch((error: unknown) => {
            problemOf(error, log);
            context.env.outgoing.destroy();
          })
          .finally(stopBeating);
      });
    },
    async serve(context, client, { conversationId, liveText = true, ...wanted }) {
      const options = { liveText, afterSequence: lastEventOf(context) ?? wanted.afterSequence ?? 0 };
      const { eventCount } = await client.conversation.get({ conversationId });
      if (options.afterSequence > eventCount) throw ofTheFuture(options.afterSequence, eventCount);
      return openStream(
        context,
        async (stream, signal) => {
          const updates = client.conversation.watch({ conversationId, ...options, signal });
          for await (const update of updates) await writeUpdate(stream, update);
        },
        (stream, error) => stream.writeSSE({ event: 'error', data: JSON.stringify(problemOf(error, log)) }),
      );
    },
    async close() {
      for (const ending of open.keys()) ending.abort();
      await keyChecks.end();
    },
  };
}

/** @throws RequestError `too_many_watchers` */
function takePlace(
  open: OpenStreams,
  limits: ServerLimits,
  context: Context<Admitted>,
  kind: Waiting,
): AbortController {
  const { tenant, key } = context.var.caller;
  if (open.size >= limits.watchers)
    throw tooMany(`This server has ${limits.watchers} open event streams, exports and waits.`);
  const exports = kind === 'export' ? [...open.values()].filter((of) => of.kind === kind && of.tenant === tenant) : [];
  if (exports.length >= EXPORTS_OF_TENANT) throw tooMany(`${EXPORTS_OF_TENANT} conversations are being exported.`);
  const ending = new AbortController();
  const { outgoing } = context.env;
  // Who left while the key was looked up: it closes no second time.
  if (outgoing.destroyed) ending.abort();
  else open.set(ending, { tenant, kind, keyId: key?.id ?? null });
  outgoing.once('close', () => {
    open.delete(ending);
    ending.abort();
  });
  return ending;
}

/** A reader that takes nothing must not hold what its answer is read from. */
export function cutOffStandstill({ env }: Context<Admitted>, { heartbeatSeconds }: ServerLimits): void {
  env.outgoing.setTimeout(heartbeatSeconds * MISSED_HEARTBEATS * 1_000);
}

type OpenStreams = Map<
  AbortController,
  { readonly tenant: string; readonly kind: Waiting; readonly keyId: string | null }
>;

/** Ends the streams whose keys are not in force any more. */
function checkKeys(
  open: OpenStreams,
  access: Access,
  seconds: number,
  log: (error: unknown) => void,
): { readonly end: () => Promise<void> } {
  const endRevoked = async (): Promise<void> => {
    const looked = [...open].flatMap(([ending, { keyId }]) => (keyId === null ? [] : [{ ending, keyId }]));
    if (looked.length === 0) return;
    const inForce = await access.inForce([...new Set(looked.map(({ keyId }) => keyId))]);
    // Of the streams that were asked about: one that opened meanwhile has a key that was just looked up.
    for (const { ending, keyId } of looked) if (!inForce.has(keyId)) ending.abort(revoked());
  };
  let looking: Promise<void> | null = null;
  const look = (): void => {
    looking ??= endRevoked()
      .catch(log)
      .finally(() => {
        looking = null;
      });
  };
  const timer = setInterval(look, seconds * 1_000);
  timer.unref();
  return {
    async end() {
      clearInterval(timer);
      await looking;
    },
  };
}

/** Keeps a connection open by what means nothing; once at once, so that the caller knows that it is connected. */
function beat(write: () => Promise<unknown>, seconds: number): () => void {
  const timer = setInterval(() => void write(), seconds * 1_000);
  void write();
  return () => clearInterval(timer);
}

async function writeUpdate(stream: SSEStreamingApi, update: WatchUpdate): Promise<void> {
  // Live text has no number: a caller that comes back asks for events after the last one that it saw.
  if (update.type === 'live_text') await stream.writeSSE({ event: 'live_text', data: JSON.stringify(update.text) });
  else {
    const { event } = update;
    await stream.writeSSE({ event: 'timeline', id: String(event.sequence), data: JSON.stringify(event) });
  }
}

/** The event after which a browser goes on. @throws RequestError `invalid_argument` */
function lastEventOf(context: Context): number | undefined {
  const header = context.req.header('last-event-id');
  const { data, error } = lastEventId.safeParse(header === undefined || header === '' ? undefined : Number(header));
  if (error === undefined) return data;
  throw new RequestError('invalid_argument', 'Last-Event-ID must be the id of an event: a whole number of 0 or more.');
}

function tooMany(message: string): RequestError {
  return new RequestError('too_many_watchers', message, { retryAfterSeconds: RETRY_SECONDS });
}

function revoked(): RequestError {
  return new RequestError('key_refused', 'The API key was revoked, or has expired.');
}

function ofTheFuture(after: number, newest: number): RequestError {
  return new RequestError(
    'invalid_argument',
    `The conversation has no event ${after}: its newest is ${newest}. Begin with a Last-Event-ID up to that.`,
  );
}
