import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { pathArguments } from '../api/endpoint.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { clientClosed, isClientErrorCode, HoldfastClientError } from '../errors.ts';

/** Requests to a server. */
export interface Requests {
  /** What the method of the endpoint returns. @throws HoldfastClientError */
  call(endpoint: Endpoint, options: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<unknown>;
  /** An answer of any kind, read by the caller. @throws HoldfastClientError */
  open(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Waits as long as a server that cannot serve now asks for, at most `atMost` milliseconds. Ends early with the signal or `close`.
   * @throws any other error
   */
  waitAfter(error: unknown, signal: AbortSignal | undefined, atMost?: number): Promise<void>;
  /** Ends what is under way. */
  close(): void;
}

/** Pause where the server does not say how long. */
const RETRY_MILLISECONDS = 500;
/** Of a timer; a longer one ends at once. */
const LONGEST_MILLISECONDS = 2 ** 31 - 1;
/** Of a limit, and of a server or a proxy during a restart. */
const PASSING = new Set([429, 502, 503, 504]);

const problem = z.object({ code: z.string(), detail: z.string(), next: z.string(), status: z.int().optional() });
const list = z.object({ items: z.array(z.unknown()) });
const single = z.object({ value: z.unknown() });

export function createRequests(url: string, apiKey: string | undefined): Requests {
  const base = `${url.replace(/\/+$/u, '')}/v1`;
  const closing = new AbortController();
  const authorization: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    if (closing.signal.aborted) throw clientClosed();
    const signals = [closing.signal, ...(init.signal == null ? [] : [init.signal])];
    const headers = { ...authorization, ...Object.fromEntries(new Headers(init.headers)) };
    const response = await fetch(`${base}${path}`, { ...init, headers, signal: AbortSignal.any(signals) }).catch(
      (error: unknown) => {
        if (closing.signal.aborted) throw clientClosed({ cause: error });
        if (init.signal?.aborted === true) throw error;
        throw new HoldfastClientError('server_unreachable', `the server at ${url} does not answer`, {
          cause: error,
          retryAfterSeconds: 0,
        });
      },
    );
    if (!response.ok) {
      const { status } = response;
      throw refusalIn(await response.json().catch(() => null), status, response.headers.get('retry-after'));
    }
    return response;
  };
  return {
    async call(endpoint, options, signal) {
      const { path, init } = requestOf(endpoint, options);
      const response = await send(path, { ...init, ...(signal !== undefined && { signal }) });
      return response.status === 204 ? undefined : unwrapped(endpoint, await response.json());
    },
    open: send,
    async waitAfter(error, signal, atMost = LONGEST_MILLISECONDS) {
      if (!(error instanceof HoldfastClientError) || error.retryAfterSeconds === null) throw error;
      const asked = Math.max(RETRY_MILLISECONDS, error.retryAfterSeconds * 1_000);
      const either = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
      const milliseconds = Math.min(asked, atMost, LONGEST_MILLISECONDS);
      await delay(milliseconds, undefined, { signal: either }).catch(() => undefined);
    },
    close: () => closing.abort(),
  };
}

function requestOf(
  { method, path }: Endpoint,
  options: Readonly<Record<string, unknown>>,
): { readonly path: string; readonly init: RequestInit } {
  const inPath = pathArguments(path);
  const rest = Object.entries(options).filter(([name, value]) => value !== undefined && !inPath.includes(name));
  const address = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(String(options[name])));
  if (method !== 'post') {
    return { path: `${address}?${queryOf(Object.fromEntries(rest))}`, init: { method: method.toUpperCase() } };
  }
  // An idempotency key too: a header holds neither all characters of one nor its outer spaces.
  const body = JSON.stringify(Object.fromEntries(rest));
  return { path: address, init: { method: 'POST', headers: { 'content-type': 'application/json' }, body } };
}

/** Arguments as a query; those of a list stand one by one. */
export function queryOf(options: object): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return new URLSearchParams(
    given.flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, String(each)])),
  ).toString();
}

/** Pieces of an answer as they come, without what separates them. */
export async function* piecesOf(response: Response, separator: string): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const pieces = `${rest}${text}`.split(separator);
    rest = pieces.pop() ?? '';
    yield* pieces;
  }
}

/** As the server wraps lists and single values. */
function unwrapped({ result }: Endpoint, body: unknown): unknown {
  if (result instanceof z.ZodObject || result instanceof z.ZodUnion) return body;
  const items = list.safeParse(body);
  return items.success ? items.data.items : single.parse(body).value;
}

/** What a server's problem says. @param answered status of an answer that is none */
export function refusalIn(body: unknown, answered: number, retryAfter: string | null = null): HoldfastClientError {
  const { data } = problem.safeParse(body);
  const { status = answered } = data ?? {};
  const retryAfterSeconds = PASSING.has(status) ? secondsIn(retryAfter) : null;
  if (data === undefined) {
    return new HoldfastClientError('server_refused', `the server answered ${status}`, { retryAfterSeconds });
  }
  const { code, detail, next } = data;
  if (isClientErrorCode(code)) return new HoldfastClientError(code, detail, { next, retryAfterSeconds });
  const options = { next, retryAfterSeconds, serverCode: code };
  return new HoldfastClientError('server_refused', `${code}: ${detail}`, options);
}

/** Seconds or a date, as RFC 9110 has it. */
function secondsIn(retryAfter: string | null): number {
  const seconds = Number(retryAfter);
  return Number.isNaN(seconds) ? Math.max(0, (Date.parse(retryAfter ?? '') - Date.now()) / 1_000) || 0 : seconds;
}
