import { BrokenAnswerError, RefusedInBody } from '../call-failure.ts';
import type { ProviderKey } from '../catalogue/provider-key.ts';
import type { ProviderDefinition } from '../provider.ts';
import { giveWay } from './give-way.ts';
import { untilAborted } from './until-aborted.ts';

/** Limits of one call, in milliseconds. */
export interface CallTimeouts {
  /** Longest silence: until the first byte, and between two. Above 300,000 the HTTP client's own limit comes first. */
  readonly idleMilliseconds: number;
  /** Longest duration from sending the request to the last byte. */
  readonly totalMilliseconds: number;
}

/** Characters from which a request takes long to make and to send. */
const LARGE_REQUEST = 1_000_000;
/** Enough for every error body; what a broken proxy sends beyond it is not read. Bytes. */
const LONGEST_ERROR_BODY = 262_144;

/** The part of `fetch` that both SDKs use. */
export type Transport = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` with the two limits, which the SDKs lack (their `timeout` ends with the headers), and
 * with error bodies of bounded size. Closes the socket when a limit is reached.
 */
export function createTransport(timeouts: CallTimeouts): Transport {
  return async (input, init = {}) => {
    const sent = await encoded(init);
    const watch = new CallWatch(timeouts, init.signal);
    const response = await watch.during(fetch(input, { ...sent, signal: watch.signal }));
    if (response.body === null) {
      watch.end();
      return response;
    }
    const body = watchedBody(response.body, watch);
    const { status, statusText, headers } = response;
    if (response.ok) return new Response(body, { status, statusText, headers });
    return new Response(await readStart(body), { status, statusText, headers });
  };
}

/** What made a large request, what encodes it and what sends it get a turn of the event loop each. */
async function encoded(init: RequestInit): Promise<RequestInit> {
  if (typeof init.body !== 'string' || init.body.length < LARGE_REQUEST) return init;
  await giveWay();
  const body = Buffer.from(init.body);
  await giveWay();
  return { ...init, body };
}

/** The clocks of one call, and its caller's signal. */
class CallWatch {
  /** Aborted by the caller, or by a limit with a `BrokenAnswerError`. */
  readonly signal: AbortSignal;
  readonly #limit = new AbortController();
  readonly #timeouts: CallTimeouts;
  readonly #total: NodeJS.Timeout;

  constructor(timeouts: CallTimeouts, caller: AbortSignal | null | undefined) {
    this.#timeouts = timeouts;
    this.signal = caller ? AbortSignal.any([caller, this.#limit.signal]) : this.#limit.signal;
    this.#total = setTimeout(
      () => this.#stop(`the answer took longer than ${timeouts.totalMilliseconds} ms`),
      timeouts.totalMilliseconds,
    );
  }

  /** Waits for the server with the idle clock running; a reader that is slow itself is not held against the server. */
  async during<Result>(waiting: Promise<Result>): Promise<Result> {
    const { idleMilliseconds } = this.#timeouts;
    const idle = setTimeout(() => this.#stop(`the server sent no byte for ${idleMilliseconds} ms`), idleMilliseconds);
    try {
      return await untilAborted(waiting, this.signal);
    } catch (error) {
      this.end();
      throw error;
    } finally {
      clearTimeout(idle);
    }
  }

  end(): void {
    clearTimeout(this.#total);
  }

  #stop(what: string): void {
    this.#limit.abort(new BrokenAnswerError(what));
  }
}

function watchedBody(source: ReadableStream<Uint8Array>, watch: CallWatch): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await watch.during(reader.read());
        if (!done) {
          controller.enqueue(value);
          return;
        }
        watch.end();
        controller.close();
      },
      async cancel(reason) {
        watch.end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  for (let bytes = 0; bytes < LONGEST_ERROR_BODY;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** What servers answer a key with that they no longer take. */
const REFUSED = 401;

/**
 * Puts the key of this moment into each call. A call that is refused because of it is made once more with the key
 * that is read then, if that is another one; a refusal comes before any work, so nothing is paid or done twice.
 */
export function withKey(transport: Transport, key: ProviderKey, provider: ProviderDefinition): Transport {
  const put = (init: RequestInit, value: string): RequestInit => ({
    ...init,
    headers: headersWith(init, provider, value),
  });
  return async (input, init = {}) => {
    const used = await key.current();
    const response = await transport(input, put(init, used));
    if (response.status !== REFUSED) return response;
    const other = await key.after(used);
    return other === used ? response : transport(input, put(init, other));
  };
}

function headersWith(init: RequestInit, { protocol, hosting }: ProviderDefinition, key: string): Headers {
  const headers = new Headers(init.headers);
  if (hosting?.cloud === 'azure') headers.set('api-key', key);
  else if (protocol === 'anthropic') headers.set('x-api-key', key);
  else headers.set('authorization', `Bearer ${key}`);
  return headers;
}

/** Of the body of an error the SDKs keep only a part: flat bodies (Mistral, vLLM, Gemini's lists, FastAPI's `detail`) would be lost. */
function withRefusals(transport: Transport): Transport {
  return async (input, init) => {
    const response = await transport(input, init);
    if (!response.ok) throw new RefusedInBody(await response.text(), response);
    return response;
  };
}

/** A server that is silent for this long is taken for dead. */
const IDLE_MILLISECONDS = 60_000;
/** OpenAI sends nothing while a model reasons, for minutes; its own agent waits as long. */
const IDLE_MILLISECONDS_RESPONSES = 300_000;
/** 128,000 tokens at 70 a second take half an hour. */
const TOTAL_MILLISECONDS = 1_800_000;

/**
 * What both SDKs are given: no retries (they belong to Temporal), no log (it would print the
 * conversation), our own time limits, and nothing from environment variables but the given key.
 */
export function sdkOptions(provider: ProviderDefinition) {
  const idleDefault = provider.protocol === 'responses' ? IDLE_MILLISECONDS_RESPONSES : IDLE_MILLISECONDS;
  const totalMilliseconds = provider.totalTimeoutMilliseconds ?? TOTAL_MILLISECONDS;
  const transport = createTransport({
    idleMilliseconds: provider.idleTimeoutMilliseconds ?? idleDefault,
    totalMilliseconds,
  });
  return {
    apiKey: provider.apiKey ?? 'none',
    maxRetries: 0,
    logLevel: 'off' as const,
    timeout: totalMilliseconds,
    fetch: withRefusals(provider.key === undefined ? transport : withKey(transport, provider.key, provider)),
    // Both SDKs send a key as bearer; `null` removes the header for a server without keys.
    defaultHeaders: provider.apiKey === null ? { authorization: null } : {},
  };
}
