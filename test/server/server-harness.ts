import { expect } from 'vitest';
import type { Page } from '../../src/client/page.ts';
import { localAccess } from '../../src/server/access.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { startServer } from '../../src/server/start-server.ts';
import type { RunningServer, ServerOptions } from '../../src/server/start-server.ts';
import { listAgentsOfWorkers } from '../../src/store/upkeep/worker-sessions.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { HarnessOptions, TurnHarness } from '../support/turn-harness.ts';

/** What JSON holds, for tests to look into. */
type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON. */
  readonly body: Json;
}

export interface ServerHarness extends TurnHarness {
  readonly server: RunningServer;
  /** What the server logged. */
  readonly faults: unknown[];
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
}

/** Turns of a test file, with a server in front of its database. */
export async function startServerHarness(
  options: HarnessOptions & { readonly server?: Partial<ServerOptions> } = {},
): Promise<ServerHarness> {
  const harness = await startTurnHarness(options);
  const faults: unknown[] = [];
  const server = await startServer({
    clientOf: () => harness.client,
    access: localAccess('default'),
    checkReady: async () => harness.database`select 1`,
    configured: { agents: [], presets: [], links: [] },
    agentsOfWorkers: () => listAgentsOfWorkers(harness.database),
    version: '0.0.0',
    port: 0,
    log: (error) => faults.push(error),
    ...options.server,
  });
  return {
    ...harness,
    server,
    faults,
    call: (method, path, body, headers) => callServer(server.url, method, path, body, headers),
    async stop() {
      await server.close();
      await harness.stop();
    },
  };
}

const routes = Object.entries(openApiDocument('').paths)
  .map(([path, methods]) => ({
    pattern: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/gu, '[^/]+')}$`, 'u'),
    path,
    methods,
  }))
  .toSorted((one, other) => one.path.split('{').length - other.path.split('{').length);

/** Each answer of a route of the API has a status, and each problem a code, of which the document knows. */
export function checkDocumented(method: string, path: string, { status, body }: Pick<Answer, 'status' | 'body'>): void {
  const [pathname = ''] = path.split('?');
  const responses = routes.find(({ pattern }) => pattern.test(pathname))?.methods[method.toLowerCase()]?.responses;
  if (responses === undefined || body?.code === 'route_not_found') return;
  expect(Object.keys(responses), `${method} ${path}`).toContain(String(status));
  if (status >= 400) expect(responses[status]?.description).toContain(`\`${body.code}\``);
}

export async function callServer(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isText = typeof body === 'string';
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && !isText && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /\bjson/u.test(response.headers.get('content-type') ?? '');
  const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  checkDocumented(method, path, answer);
  return answer;
}

interface PagedList<Item, Cursor> {
  readonly list: (page: Partial<Cursor> & { readonly limit?: number }) => Promise<Page<Item>>;
  /** What the page after an item is asked for with. */
  readonly next: (item: Item) => Cursor;
  /** Its pages go back in time, each in order. */
  readonly isNewestLast?: boolean;
}

/** A list at once, and in pages of one. */
export async function readInPages<Item, Cursor extends object>({
  list,
  next,
  isNewestLast = false,
}: PagedList<Item, Cursor>): Promise<{ readonly whole: readonly Item[]; readonly pages: readonly Item[] }> {
  const { items: whole } = await list({});
  const pages: Item[] = [];
  for (let from: Partial<Cursor> = {}; ;) {
    const { items, hasMore } = await list({ ...from, limit: 1 });
    pages.push(...items);
    const [item] = items;
    if (!hasMore || item === undefined || pages.length > whole.length)
      return { whole, pages: isNewestLast ? pages.toReversed() : pages };
    from = next(item);
  }
}

export interface ServerEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: Json;
}

/** Reads an event stream until `isLast`, then leaves. */
export async function readEvents(
  url: string,
  isLast: (event: ServerEvent) => boolean,
  headers: Record<string, string> = {},
): Promise<ServerEvent[]> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  const events: ServerEvent[] = [];
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${chunk}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event === null) continue;
      events.push(event);
      if (!isLast(event)) continue;
      leaving.abort();
      return events;
    }
  }
  return events;
}

function parseEvent(block: string): ServerEvent | null {
  const field = (name: string): string | null => {
    const lines = block.split('\n').filter((line) => line.startsWith(`${name}: `));
    return lines.length === 0 ? null : lines.map((line) => line.slice(name.length + 2)).join('\n');
  };
  const data = field('data');
  return data === null ? null : { event: field('event') ?? 'message', id: field('id'), data: JSON.parse(data) };
}
