/** A refusal of the server, or a server that does not answer. */
export class Problem extends Error {
  override readonly name = 'Problem';

  readonly code: string;
  /** What to do. */
  readonly next: string;
  /** Of HTTP; 0 where there was no answer. */
  readonly status: number;
  /** How long the server asks to be left alone; 0: it does not say. */
  readonly waitMilliseconds: number;

  constructor(code: string, detail: string, next: string, status: number, waitMilliseconds = 0) {
    super(detail);
    this.code = code;
    this.next = next;
    this.status = status;
    this.waitMilliseconds = waitMilliseconds;
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const field = (name: string): string => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  const detail = field('detail') || `The server answered ${response.status}.`;
  // Holdfast's server sends seconds. A date, as a proxy may send, counts as none.
  const wait = Number(response.headers.get('retry-after')) * 1_000 || 0;
  return new Problem(field('code') || 'unknown', detail, field('next'), response.status, wait);
}

/** Of a server that wants keys. */
const KEY_PROBLEMS: ReadonlySet<string> = new Set(['key_missing', 'key_refused']);

export function wantsKey(error: Error): boolean {
  return error instanceof Problem && KEY_PROBLEMS.has(error.code);
}

/** Whether the browser has to log in first, whatever the server takes. */
export function wantsLogin(error: Error): boolean {
  return error instanceof Problem && error.status === 401;
}

/** Whether the same request may be answered later: after an outage, a login, or a wait. */
export function mayPass(error: Error): boolean {
  if (!(error instanceof Problem)) return true;
  return error.status < 400 || error.status >= 500 || [401, 408, 429].includes(error.status);
}

const AGAIN_MILLISECONDS = 2_000;

/** When a page reads again what it could not read. */
export function readAgainAfter(error: Error | null): number | false {
  return error !== null && mayPass(error) && readLive(error);
}

/**
 * When a page reads again what may have changed. Not before a login, which reads everything again: reading would take its form away.
 * @param requests that it takes: the more, the more rarely
 */
export function readLive(error: Error | null, requests = 1): number | false {
  return (error === null || !wantsKey(error)) && AGAIN_MILLISECONDS * requests;
}

/** Until when the server asks to be left alone, by the clock of `performance`. */
let quietUntil = 0;

/** Sends a request that only reads, no sooner than the server asked for when it refused another one. */
export async function whenWelcome<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  for (let wait = quietUntil - performance.now(); wait > 0; wait = quietUntil - performance.now()) await pause(wait);
  return request().catch((error: unknown) => {
    if (error instanceof Problem) quietUntil = Math.max(quietUntil, performance.now() + error.waitMilliseconds);
    throw error;
  });
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
