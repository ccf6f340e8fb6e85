import { useEffect, useRef } from 'react';
import { Problem, problemOf, whenWelcome } from './problem.ts';
import type { AnswerOf, PathOf } from './types.ts';

/** Says that a page asks, and no form of another site. */
const HEADERS = { 'x-holdfast-page': '1' };

const AGAIN = 'Try it again.';

/** Logs this browser in; the server keeps the key in a cookie that scripts cannot read. @throws Problem */
export async function logIn(key: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await reach('/login', { method: 'post', headers, body: JSON.stringify({ key }) }, AGAIN);
}

/** Logs this browser out, and forgets what its pages know. @throws Problem */
export async function logOut(): Promise<void> {
  await reach('/logout', { method: 'post' }, AGAIN);
  window.location.assign('/');
}

type Arguments = Readonly<Record<string, unknown>>;

/** Puts arguments into a path, and answers those that it does not name. */
export function fillPath(path: string, given: Arguments): { readonly url: string; readonly others: Arguments } {
  const named = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    named.add(name);
    return encodeURIComponent(String(given[name]));
  });
  const others = Object.entries(given).filter(([name, value]) => !named.has(name) && value !== undefined);
  return { url: `/v1${filled}`, others: Object.fromEntries(others) };
}

/** @param next what a person is told where the server does not answer */
export async function reach(
  url: string,
  options: RequestInit,
  next = 'This page tries again by itself.',
): Promise<Response> {
  const headers = { ...HEADERS, ...Object.fromEntries(new Headers(options.headers)) };
  const response = await fetch(url, { ...options, headers }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Problem('server_unreachable', 'The server does not answer.', next, 0);
  });
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** The address of a call whose arguments stand in path and query. */
function addressOf(path: string, given: Arguments): string {
  const { url, others } = fillPath(path, given);
  const query = new URLSearchParams(
    Object.entries(others).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)])),
  );
  return query.size === 0 ? url : `${url}?${query}`;
}

/** @throws Problem */
export async function read<Path extends PathOf<'get'>>(path: Path, given: Arguments = {}) {
  const response = await whenWelcome(() => reach(addressOf(path, given), {}));
  const answer: AnswerOf<'get', Path> = await response.json();
  return answer;
}

/** @throws Problem */
export async function remove(path: PathOf<'delete'>, given: Arguments): Promise<void> {
  await reach(addressOf(path, given), { method: 'delete' }, AGAIN);
}

/** Not by `randomUUID`, which a page without TLS has not. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param key under which a repeated request counts once; none for one that only reads. @throws Problem */
export async function send<Path extends PathOf<'post'>>(path: Path, given: Arguments = {}, key?: string) {
  const { url, others } = fillPath(path, given);
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) };
  const next = key === undefined ? undefined : 'Try it again: it counts once.';
  const response = await reach(url, { method: 'post', headers, body: JSON.stringify(others) }, next);
  const answer: AnswerOf<'post', Path> = await response.json();
  return answer;
}

/**
 * Sends what a form holds. Where the answer was lost, the same request again has the same key, until the form says something else.
 * @param words that a person wrote into the form
 */
export function useSend(words = '') {
  const unanswered = useRef<{ readonly request: string; readonly key: string } | null>(null);
  useEffect(() => () => void (unanswered.current = null), [words]);
  return async <Path extends PathOf<'post'>>(path: Path, given: Arguments = {}) => {
    const request = JSON.stringify([path, given]);
    if (unanswered.current?.request !== request) unanswered.current = { request, key: newKey() };
    const answer = await send(path, given, unanswered.current.key);
    unanswered.current = null;
    return answer;
  };
}
