import { Problem } from './problem.ts';
import type { AnswerOf, PathOf } from './types.ts';

/** Says that a page asks, and no form of another site. */
const HEADERS = { 'x-holdfast-page': '1' };

/** Logs this browser in; the server keeps the key in a cookie that scripts cannot read. @throws Problem */
export async function logIn(key: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await reach('/login', { method: 'post', headers, body: JSON.stringify({ key }) });
}

/** Logs this browser out, and forgets what its pages know. @throws Problem */
export async function logOut(): Promise<void> {
  await reach('/logout', { method: 'post' });
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

export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const field = (name: string): string => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  const detail = field('detail') || `The server answered ${response.status}.`;
  return new Problem(field('code') || 'unknown', detail, field('next'), response.status);
}

export async function reach(url: string, options: RequestInit): Promise<Response> {
  const headers = { ...HEADERS, ...Object.fromEntries(new Headers(options.headers)) };
  const response = await fetch(url, { ...options, headers }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Problem('server_unreachable', 'The server does not answer.', 'This page tries again by itself.', 0);
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
  const response = await reach(addressOf(path, given), {});
  const answer: AnswerOf<'get', Path> = await response.json();
  return answer;
}

/** @throws Problem */
export async function remove(path: PathOf<'delete'>, given: Arguments): Promise<void> {
  await reach(addressOf(path, given), { method: 'delete' });
}

/** Not by `randomUUID`, which a page without TLS has not. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sends it under a key of its own, so that a repeated request counts once. @throws Problem */
export async function send<Path extends PathOf<'post'>>(path: Path, given: Arguments = {}) {
  const { url, others } = fillPath(path, given);
  const headers = { 'content-type': 'application/json', 'idempotency-key': newKey() };
  const response = await reach(url, { method: 'post', headers, body: JSON.stringify(others) });
  const answer: AnswerOf<'post', Path> = await response.json();
  return answer;
}
