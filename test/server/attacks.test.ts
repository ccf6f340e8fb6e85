import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { loginLink } from '../../src/server/login-link.ts';
import { newId } from '../../src/store/database/ids.ts';
import { liveTextChannel } from '../../src/store/log/live-text-channel.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readEvents, startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

let harness: ServerHarness;

beforeAll(async () => {
  harness = await startServerHarness({
    agent: { approvals: { rules: [{ tool: 'write_file', when: { path: 'asked*' } }] } },
    server: {
      limits: {
        bodyBytes: 50_000,
        attachments: 1,
        pageItems: 100,
        requestSeconds: 0.3,
        heartbeatSeconds: 0.1,
        watchers: 2,
      },
    },
  });
  await harness.startWorker();
});
afterAll(async () => harness.stop());

const JSON_TYPE = { 'content-type': 'application/json' };
const SQL = encodeURIComponent("'; drop table holdfast.events; --");
const NESTED = `{"task":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
const ESCAPES = '\u001B[2J\u202E<script>alert(1)</script>';

const FILE = { type: 'file', mediaType: 'text/plain', name: `../../${ESCAPES}`, data: 'eA==', pages: 0 };

/** Method, path, body and headers; status and code. */
const HOSTILE: readonly [string, [string, string, string?, Record<string, string>?], [number, string]][] = [
  ['SQL as an id', ['GET', `/v1/conversations/${SQL}/entries`], [404, 'conversation_not_found']],
  ['NUL as an id', ['GET', '/v1/conversations/%00'], [404, 'conversation_not_found']],
  ['NUL as an agent', ['GET', '/v1/conversations?agent=%00'], [400, 'invalid_argument']],
  [
    'a sequence beyond all',
    ['GET', `/v1/conversations/${newId()}/entries?afterSequence=3000000000`],
    [400, 'invalid_argument'],
  ],
  ['a long id', ['GET', `/v1/conversations/${'9'.repeat(5_000)}`], [404, 'conversation_not_found']],
  ['a path out of the API', ['GET', '/v1/conversations/..%2f..%2fetc%2fpasswd'], [404, 'conversation_not_found']],
  ['SQL as an entry', ['GET', `/v1/entries/${SQL}/content`], [404, 'entry_not_found']],
  ['a list as a body', ['POST', '/v1/conversations', '[]', JSON_TYPE], [400, 'body_not_json']],
  ['nothing as a body', ['POST', '/v1/conversations', 'null', JSON_TYPE], [400, 'body_not_json']],
  ['nesting without end', ['POST', '/v1/conversations', NESTED, JSON_TYPE], [400, 'invalid_argument']],
  ['a number beyond all', ['POST', '/v1/conversations', '{"task":1e999}', JSON_TYPE], [400, 'invalid_argument']],
  [
    'an unknown mode',
    ['POST', `/v1/conversations/${newId()}/messages`, '{"content":"x","mode":"root"}', JSON_TYPE],
    [400, 'invalid_argument'],
  ],
  [
    'escapes as a field',
    ['POST', '/v1/conversations', JSON.stringify({ [ESCAPES]: 1 }), JSON_TYPE],
    [400, 'invalid_argument'],
  ],
  ['a workspace', ['POST', '/v1/conversations', '{"task":"x","workspace":"/"}', JSON_TYPE], [400, 'invalid_argument']],
  [
    'a long key',
    ['POST', '/v1/conversations', '{"task":"x"}', { ...JSON_TYPE, 'idempotency-key': 'k'.repeat(300) }],
    [400, 'invalid_argument'],
  ],
  ['a page beyond all', ['GET', '/v1/conversations?limit=101'], [400, 'invalid_argument']],
  ['a cursor of no call', ['GET', '/v1/decisions?after=1'], [400, 'invalid_argument']],
  [
    'more files than a message may have',
    ['POST', '/v1/conversations', JSON.stringify({ task: [FILE, FILE] }), JSON_TYPE],
    [413, 'body_too_large'],
  ],
  ['a foreign type of import', ['POST', '/v1/conversations/import', '{}', JSON_TYPE], [400, 'body_not_json']],
  [
    'an import of anything',
    ['POST', '/v1/conversations/import', '{}\n', { 'content-type': 'application/x-ndjson' }],
    [422, 'conversation_file_invalid'],
  ],
];

test.each(HOSTILE)('%s is refused', async (_, [method, path, body, headers = {}], expected) => {
  const response = await fetch(`${harness.server.url}${path}`, {
    method,
    ...(body !== undefined && { body }),
    headers,
  });
  const text = await response.text();
  expect([response.status, JSON.parse(text).code]).toEqual(expected);
  // Data to whoever shows it, and inert in a terminal.
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(text).not.toContain('\u001B');
  expect(harness.faults).toEqual([]);
});

const RESPONSE = `resp_${newId().replaceAll('-', '')}_${newId().replaceAll('-', '')}`;
const CREATE = { model: 'default', input: 'Say no' };
const CALL_GONE = { type: 'function_call_output', call_id: 'call_1', output: 'x' };
const MCP_CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
const GONE = { conversation_id: newId(), decision: 'approve', call: '1.1.0' };

function invalidUtf8(body: object): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from(new TextEncoder().encode(JSON.stringify(body)));
  bytes[bytes.lastIndexOf(0x61)] = 0xff;
  return bytes;
}

/** Path and body, with POST; status and code. */
const AT_OTHER_DOORS: readonly [string, string, object | string, [number, string]][] = [
  ['a list', '/v1/responses', '[]', [400, 'body_not_json']],
  ['half a body', '/v1/responses', '{"model":"default","input":"Say', [400, 'body_not_json']],
  ['invalid UTF-8', '/v1/responses', invalidUtf8(CREATE), [400, 'body_not_json']],
  ['a huge body', '/v1/responses', { ...CREATE, input: 'x'.repeat(60_000) }, [413, 'body_too_large']],
  ['a number as input', '/v1/responses', { ...CREATE, input: 7 }, [400, 'invalid_argument']],
  ['nothing as an item', '/v1/responses', { ...CREATE, input: [null] }, [400, 'invalid_argument']],
  ['a result of a call that is gone', '/v1/responses', { ...CREATE, input: [CALL_GONE] }, [400, 'invalid_argument']],
  [
    'an unknown response',
    '/v1/responses',
    { ...CREATE, previous_response_id: RESPONSE },
    [404, 'conversation_not_found'],
  ],
  ['a cancel of nothing', `/v1/responses/${RESPONSE}/cancel`, {}, [404, 'conversation_not_found']],
  ['a cancel of no response', '/v1/responses/resp_1/cancel', {}, [400, 'invalid_argument']],
  ['nothing to compact', '/v1/responses/compact', { model: 'default' }, [400, 'invalid_argument']],
  ['an unknown method', '/v1/responses/compact/all', {}, [404, 'route_not_found']],
  ['a list', '/mcp', [MCP_CALL], [400, 'body_not_json']],
  ['half a body', '/mcp', '{"jsonrpc":"2.0","id":1', [400, 'body_not_json']],
  ['invalid UTF-8', '/mcp', invalidUtf8({ ...MCP_CALL, params: { name: 'start_task' } }), [400, 'body_not_json']],
  ['a huge body', '/mcp', { ...MCP_CALL, params: { name: 'x'.repeat(60_000) } }, [413, 'body_too_large']],
  ['no message', '/mcp', { hello: 'world' }, [400, '-32700']],
  ['an unknown method', '/mcp', { ...MCP_CALL, method: 'tools/rule' }, [200, '-32601']],
  ['an unknown tool', '/mcp', { ...MCP_CALL, params: { name: 'rule' } }, [200, '-32602']],
  ['wrong types', '/mcp', { ...MCP_CALL, params: { name: 'start_task', arguments: { task: 7 } } }, [200, '-32602']],
  [
    'a decision on nothing',
    '/mcp',
    { ...MCP_CALL, params: { name: 'decide', arguments: GONE } },
    [200, 'decision_not_found'],
  ],
];

test.each(AT_OTHER_DOORS)(
  '%s is refused at %s with a code, and nothing is written',
  async (_, path, body, expected) => {
    const counted = () => harness.database`
    select (select count(*) from messages) as messages, (select count(*) from conversations) as conversations`;
    const before = await counted();
    const response = await fetch(`${harness.server.url}${path}`, {
      method: 'POST',
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      headers: { ...JSON_TYPE, accept: 'application/json, text/event-stream' },
    });
    const [status, code] = expected;
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(code)]);
    expect(await counted()).toEqual(before);
    expect(harness.faults).toEqual([]);
  },
);

test('a body of 100 MB is refused before it is read, with or without its length', async () => {
  const send = (headers: Record<string, string | number>): Promise<number | undefined> =>
    new Promise((resolve) => {
      const sent = request(`${harness.server.url}/v1/conversations`, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...headers },
      });
      let written = 0;
      const more = (): void => {
        while (written < 100_000_000 && !sent.destroyed) {
          written += 60_000;
          if (!sent.write('x'.repeat(60_000))) return void sent.once('drain', more);
        }
      };
      sent.on('response', (answer) => {
        resolve(written < 100_000_000 ? answer.statusCode : undefined);
        sent.destroy();
      });
      sent.on('error', () => undefined);
      more();
    });
  expect(await send({ 'content-length': 100_000_000 })).toBe(413);
  expect(await send({ 'transfer-encoding': 'chunked' })).toBe(413);
});

test('a client that never finishes its request is cut off', async () => {
  const { port } = harness.server;
  const answers = [
    'POST /v1/conversations HTTP/1.1\r\nhost: 127.0.0.1',
    'POST /v1/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  ].map(
    (begun) =>
      new Promise<string>((resolve) => {
        let answer = '';
        const socket = connect(port, '127.0.0.1', () => socket.write(begun));
        socket.on('data', (chunk) => (answer += String(chunk)));
        socket.on('error', () => undefined);
        socket.on('close', () => resolve(answer));
      }),
  );
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 408/u);
});

test('a reader that stands still is cut off, and the others miss nothing', async () => {
  const { server, database, client } = harness;
  const { conversationId: id, ...first } = await client.start('Say first');
  await first.result();
  const path = `/v1/conversations/${id}/events`;
  let ended = 0;
  const reading = readEvents(`${server.url}${path}`, ({ data }) => data.kind === 'turn_ended' && ++ended === 2);
  await waitUntil('one reads', () => ended === 1);
  const slow = connect(server.port, '127.0.0.1', () => slow.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`));
  await once(slow, 'data');
  slow.pause();
  const isAdmitted = async (): Promise<boolean> => {
    const leaving = new AbortController();
    const { status } = await fetch(`${server.url}${path}`, { signal: leaving.signal });
    leaving.abort();
    return status === 200;
  };
  expect(await isAdmitted()).toBe(false);
  let offset = 0;
  await waitUntil('the other one is cut off', async () => {
    offset += 1_000;
    await database`
      select pg_notify(${liveTextChannel(id)}::text, json_build_object('turnId', ${newId()}::text, 'callNumber', 9, 'attempt', 1, 'kind', 'text',
        'offset', n, 'text', repeat('x', 7000))::text)
      from generate_series(${offset}::int, ${offset + 999}::int) n`;
    return isAdmitted();
  });
  const { messageId } = await client.open(id).send('Say second', { mode: 'queue' });
  await client.conversation.outcome({ conversationId: id, messageId });
  const events = (await reading).filter(({ event }) => event === 'timeline');
  expect(events.map((each) => each.id)).toEqual(events.map((_, place) => String(place + 1)));
  // What its connection held comes yet, and then its end.
  slow.resume();
  await once(slow, 'close');
});

test('of two decisions at once one counts, by the user of this machine, and the name of a file leads nowhere', async () => {
  const { call } = harness;
  vi.stubEnv('USER', 'ada');
  onTestFinished(() => void vi.unstubAllEnvs());
  const task = [{ type: 'text', text: 'Call write_file with {"path":"asked.txt","content":"x"}\nSay done' }, FILE];
  const { body: sent } = await call('POST', '/v1/conversations', { task });
  const path = `/v1/conversations/${sent.conversationId}`;
  await waitUntil('the call waits', async () => (await call('GET', '/v1/decisions')).body.items.length === 1);
  const both = await Promise.all([call('POST', `${path}/approve`), call('POST', `${path}/deny`)]);
  expect(both.map(({ status }) => Math.floor(status / 100)).toSorted((left, right) => left - right)).toEqual([2, 4]);
  const made = await call('GET', `${path}/timeline?kinds=decision_made`);
  expect(made.body.items).toMatchObject([{ data: { decidedBy: 'ada' } }]);
  await call('GET', `${path}/messages/${sent.messageId}/outcome`);
  const { body: entries } = await call('GET', `${path}/entries`);
  const content = await call('GET', `/v1/entries/${entries.items[0].entryId}/content`);
  expect([content.status, content.headers.get('content-disposition')]).toEqual([
    200,
    'attachment; filename="original"',
  ]);
});

test('a link logs one browser in, and with its cookie only pages of this server change something', async () => {
  const { url } = harness.server;
  const browser = { 'sec-fetch-site': 'same-origin' };
  const ask = (path: string, headers: Record<string, string>, method = 'GET'): Promise<Response> =>
    fetch(`${url}${path}`, { method, headers: { ...browser, ...headers }, redirect: 'manual' });
  expect((await ask('/v1/conversations', {})).status).toBe(401);
  expect((await ask('/login-links', {}, 'POST')).status).toBe(403);
  const link = (await loginLink(url)).slice(url.length);
  const opened = await ask(link, {});
  expect([opened.status, opened.headers.get('location')]).toEqual([303, '/']);
  const [cookie = '', ...rest] = (opened.headers.get('set-cookie') ?? '').split('; ');
  expect(rest.toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict']);
  expect((await ask(link, {})).status).toBe(401);
  expect((await ask('/v1/conversations', { cookie })).status).toBe(200);
  const stop = `/v1/conversations/${newId()}/stop`;
  expect((await ask(stop, { cookie }, 'POST')).status).toBe(403);
  expect((await ask(stop, { cookie, 'x-holdfast-page': '1' }, 'POST')).status).toBe(404);
});
