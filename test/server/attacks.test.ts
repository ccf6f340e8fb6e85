import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { loginLink } from '../../src/server/login-link.ts';
import { newId } from '../../src/store/database/ids.ts';
import { liveTextChannel } from '../../src/store/log/live-text-channel.ts';
import { waitUntil } from '../support/wait-until.ts';
import { AT_OTHER_DOORS, FILE, HOSTILE, JSON_TYPE } from './hostile-requests.ts';
import { checkDocumented, readEvents, startServerHarness } from './server-harness.ts';
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
        requestSeconds: 3,
        heartbeatSeconds: 0.3,
        watchers: 2,
      },
    },
  });
  await harness.startWorker();
});
afterAll(async () => harness.stop());

test.each(HOSTILE)('%s is refused', async (_, [method, path, body, headers = {}], expected) => {
  const response = await fetch(`${harness.server.url}${path}`, {
    method,
    ...(body !== undefined && { body }),
    headers,
  });
  const text = await response.text();
  expect([response.status, JSON.parse(text).code]).toEqual(expected);
  checkDocumented(method, path, { status: response.status, body: JSON.parse(text) });
  // Data to whoever shows it, and inert in a terminal.
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(text).not.toContain('\u001B');
  expect(harness.faults).toEqual([]);
});

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

test('who reads no export holds no connection, and a HEAD begins nothing', async () => {
  const { server, database, client } = harness;
  const { conversationId: id, ...sent } = await client.start('Say one');
  await sent.result();
  for (const path of ['events', 'export']) {
    const { status } = await fetch(`${server.url}/v1/conversations/${id}/${path}`, { method: 'HEAD' });
    expect([path, status]).toEqual([path, 404]);
  }
  await database.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      update entries set content = json_build_array(json_build_object('type', 'text', 'text', repeat('x', 30000000)))
      where conversation_id = ${id}`;
  });
  const exports = async (): Promise<number> => {
    const [row] = await database<{ count: number }[]>`
      select count(*)::int from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction' and query like '%row_to_json%'`;
    return row?.count ?? 0;
  };
  const path = `/v1/conversations/${id}/export`;
  const slow = connect(server.port, '127.0.0.1', () => slow.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`));
  await once(slow, 'data');
  slow.pause();
  await waitUntil('it is cut off', async () => (await exports()) === 0);
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
  // The login of a server at another port is another cookie.
  expect(cookie).toContain(`login${harness.server.port}=`);
  const again = await ask(link, {});
  expect([again.status, again.headers.get('location'), again.headers.get('set-cookie')]).toEqual([303, '/', null]);
  expect((await ask('/v1/conversations', { cookie })).status).toBe(200);
  const stop = `/v1/conversations/${newId()}/stop`;
  expect((await ask(stop, { cookie }, 'POST')).status).toBe(403);
  expect((await ask(stop, { cookie, 'x-holdfast-page': '1' }, 'POST')).status).toBe(404);
  expect((await ask('/logout', { cookie }, 'POST')).status).toBe(403);
  const left = await ask('/logout', { cookie, 'x-holdfast-page': '1' }, 'POST');
  expect([left.status, left.headers.get('set-cookie')]).toEqual([
    204,
    expect.stringMatching(/^holdfast_login\d+=;.*Max-Age=0/u),
  ]);
});
