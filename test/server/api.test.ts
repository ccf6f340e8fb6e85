import { get } from 'node:http';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import { newId } from '../../src/store/database/ids.ts';
import { liveTextChannel } from '../../src/store/log/live-text-channel.ts';
import { listAgentsOfWorkers } from '../../src/store/upkeep/worker-sessions.ts';
import { readEvents, startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

let harness: ServerHarness;

/** Signature and header of a PNG of 3 × 2 pixels. */
const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000003000000020802000000', 'hex');

const CONFIGURED = {
  agents: [{ name: 'default', model: 'simulator/sim-32k', preset: 'default', tools: ['read_file'] }],
  presets: [{ name: 'default' }, { name: 'pi' }],
  links: [],
};

beforeAll(async () => {
  harness = await startServerHarness({
    server: { configured: CONFIGURED, limits: { bodyBytes: 50_000, heartbeatSeconds: 1 } },
  });
  await harness.startWorker();
});
afterAll(async () => harness.stop());

async function startTask(task: string): Promise<{ id: string; messageId: string }> {
  const { status, body } = await harness.call('POST', '/v1/conversations', { task });
  expect([status, body.duplicate]).toEqual([201, false]);
  return { id: body.conversationId, messageId: body.messageId };
}

async function runTask(task: string): Promise<string> {
  const { id, messageId } = await startTask(task);
  const { body } = await harness.call('GET', `/v1/conversations/${id}/messages/${messageId}/outcome`);
  expect(body).toMatchObject({ state: 'ended', outcome: 'completed' });
  return id;
}

test('a conversation is started, followed, read, searched and deleted over HTTP alone', async () => {
  const { call } = harness;
  const id = await runTask('Say heron');
  const found = await call('GET', `/v1/conversations/${id}`);
  expect(found.body).toMatchObject({ conversationId: id, agent: 'default', title: 'Say heron', turn: { steps: 1 } });
  const entries = await call('GET', `/v1/conversations/${id}/entries?limit=1&afterSequence=0`);
  expect(entries.body).toMatchObject({ hasMore: true, items: [{ sequence: 1, kind: 'user' }] });
  const listed = await call('GET', '/v1/conversations?agent=default&limit=500');
  expect(listed.body.items.map((each: { conversationId: string }) => each.conversationId)).toContain(id);
  const passages = await call('POST', '/v1/search', { agent: 'default', query: 'heron' });
  expect(passages.body.items[0]).toMatchObject({ conversationId: id, matched: ['heron'] });
  expect((await call('GET', `/v1/conversations/${id}/entries/count`)).body).toEqual({ value: 2 });
  expect((await call('GET', `/v1/conversations/${id}/summaries`)).body).toEqual({ items: [] });
  expect((await call('GET', '/v1/decisions')).body).toEqual({ items: [], hasMore: false });
  expect((await call('DELETE', `/v1/conversations/${id}`)).status).toBe(200);
  expect((await call('GET', `/v1/conversations/${id}`)).status).toBe(404);
});

test('events come once and in order, and Last-Event-ID goes on without a gap', async () => {
  const id = await runTask('Say crane');
  const url = `${harness.server.url}/v1/conversations/${id}/events`;
  const isEnd = ({ data }: { data: { kind?: string } }): boolean => data.kind === 'turn_ended';
  const all = await readEvents(url, isEnd);
  expect(all.map((each) => each.id)).toEqual(all.map((_, place) => String(place + 1)));
  expect(all.every((each) => each.event === 'timeline')).toBe(true);
  const rest = await readEvents(url, isEnd, { 'last-event-id': '2' });
  expect(rest).toEqual(all.slice(2));
  const future = await harness.call('GET', `/v1/conversations/${id}/events`, undefined, { 'last-event-id': '999' });
  expect([future.status, future.body.code]).toEqual([400, 'invalid_argument']);
  const wrong = await harness.call('GET', `/v1/conversations/${id}/events`, undefined, { 'last-event-id': "1' or 1" });
  expect(wrong.status).toBe(400);
});

test('live text comes between the events, with attempt and offset and without a number', async () => {
  const answer = await harness.hold({ containing: 'one two three four' });
  const { id } = await startTask('Say one two three four');
  const reading = readEvents(`${harness.server.url}/v1/conversations/${id}/events`, ({ data }) => {
    return data.kind === 'turn_ended';
  });
  await waitUntil('the server listens for live text', async () => {
    const listening = await harness.database`
      select from pg_stat_activity where datname = current_database() and query like ${`%${liveTextChannel(id)}%`}
        and pid <> pg_backend_pid()`;
    return listening.length > 0;
  });
  await answer();
  const events = await reading;
  const live = events.filter(({ event }) => event === 'live_text');
  expect(live.length).toBeGreaterThan(0);
  for (const { id: number, data } of live) {
    expect(number).toBeNull();
    expect(data).toMatchObject({ attempt: 1, offset: expect.any(Number), text: expect.any(String) });
  }
});

test('a stream in which nothing happens has comments', async () => {
  const id = await runTask('Say nothing');
  const { body: conversation } = await harness.call('GET', `/v1/conversations/${id}`);
  const headers = { 'last-event-id': String(conversation.eventCount) };
  const { body } = await fetch(`${harness.server.url}/v1/conversations/${id}/events`, { headers });
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.length >= 8) break;
  }
  // Those that came together are read together.
  expect(text).toMatch(/^(?:: \n\n){2,}$/u);
});

test('a stream of a conversation that is deleted ends with a problem', async () => {
  const id = await runTask('Say gone');
  const ended = readEvents(`${harness.server.url}/v1/conversations/${id}/events`, ({ event }) => event === 'error');
  await harness.call('DELETE', `/v1/conversations/${id}`);
  expect((await ended).at(-1)?.data).toMatchObject({ code: 'conversation_not_found', status: 404 });
});

test('bytes of an entry come whole or by range, and never as something to render', async () => {
  const id = await runTask('Say <script>alert(1)</script>');
  const { body } = await harness.call('GET', `/v1/conversations/${id}/entries`);
  const path = `/v1/entries/${body.items[1].entryId}/content`;
  const part = async (range?: string) => {
    const headers = range === undefined ? {} : { range };
    const answer = await harness.call('GET', path, undefined, headers);
    return [answer.status, answer.headers.get('content-range'), answer.status < 300 ? answer.body : answer.body.code];
  };
  // RFC 9110: one of several ranges, or of another unit, is passed over.
  for (const whole of [undefined, 'lines=1-2', 'bytes=0-1,3-4']) {
    expect(await part(whole)).toEqual([200, null, '<script>alert(1)</script>']);
  }
  expect(await part('bytes=1-6')).toEqual([206, 'bytes 1-6/25', 'script']);
  expect(await part('bytes=-1')).toEqual([206, 'bytes 24-24/25', '>']);
  for (const wrong of ['bytes=25-', 'bytes=9-1', 'bytes=-0']) {
    expect(await part(wrong)).toEqual([416, 'bytes */25', 'range_refused']);
  }
  const picture = { type: 'image', data: PNG.toString('base64') };
  const { body: sent } = await harness.call('POST', '/v1/conversations', {
    task: [{ type: 'text', text: 'Say seen' }, picture],
  });
  await harness.call('GET', `/v1/conversations/${sent.conversationId}/messages/${sent.messageId}/outcome`);
  const { body: seen } = await harness.call('GET', `/v1/conversations/${sent.conversationId}/entries`);
  const bytesOf = async (query: string) => {
    const url = `${harness.server.url}/v1/entries/${seen.items[0].entryId}/content${query}`;
    const answer = await fetch(url, { headers: { range: 'bytes=1-3' } });
    return [answer.status, [...new Uint8Array(await answer.arrayBuffer())]];
  };
  expect(await bytesOf('?part=1')).toEqual([206, [0x50, 0x4e, 0x47]]);
  expect((await bytesOf('?part=2'))[0]).toBe(400);
  const { headers } = await harness.call('GET', path);
  expect(headers.get('content-type')).toBe('application/octet-stream');
  expect(headers.get('content-disposition')).toMatch(/^attachment/u);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const policy = headers.get('content-security-policy');
  expect(policy).not.toContain('unsafe');
  for (const nothing of ['object-src', 'base-uri', 'frame-ancestors', 'form-action']) {
    expect(policy).toContain(`${nothing} 'none'`);
  }
});

test('wrong requests are refused with a code, the field and what to do', async () => {
  const { call } = harness;
  const id = newId();
  const refused = async (...request: Parameters<typeof call>) => {
    const { status, body, headers } = await call(...request);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(body).toMatchObject({
      status,
      title: expect.any(String),
      detail: expect.any(String),
      next: expect.any(String),
    });
    return [status, body.code, body.errors?.[0]?.field];
  };
  expect(await refused('GET', `/v1/conversations/${id}`)).toEqual([404, 'conversation_not_found', undefined]);
  expect(await refused('GET', "/v1/conversations/' or 1=1 --")).toEqual([404, 'conversation_not_found', undefined]);
  expect(await refused('GET', '/v1/conversations/%3Cscript%3E/entries')).toEqual([
    404,
    'conversation_not_found',
    undefined,
  ]);
  expect(await refused('GET', '/v1/conversations?limit=many')).toEqual([400, 'invalid_argument', 'limit']);
  expect(await refused('GET', '/v1/conversations?color=red')).toEqual([400, 'invalid_argument', 'color']);
  expect(await refused('GET', '/v1/conversations?state=asleep')).toEqual([400, 'invalid_argument', 'state']);
  expect(await refused('POST', '/v1/conversations', { task: 5 })).toEqual([400, 'invalid_argument', 'task']);
  const image = { type: 'image', mediaType: 'image/png' };
  expect(await refused('POST', '/v1/conversations', { task: [image] })).toEqual([
    400,
    'invalid_argument',
    'task.0.data',
  ]);
  expect(await refused('POST', '/v1/conversations', { task: [{ type: 'video' }] })).toEqual([
    400,
    'invalid_argument',
    'task.0.type',
  ]);
  const ofNoCall = await refused('GET', `/v1/decisions/made?before=${id}`);
  expect(ofNoCall).toEqual([400, 'invalid_argument', 'before']);
  const cached = { type: 'text', text: 'x', cache: true };
  expect(await refused('POST', '/v1/conversations', { task: [cached] })).toEqual([
    400,
    'invalid_argument',
    'task.0.cache',
  ]);
  expect(await refused('POST', '/v1/conversations', { task: 'x', root: true })).toEqual([
    400,
    'invalid_argument',
    'root',
  ]);
  expect(await refused('POST', '/v1/conversations', '{"task"', { 'content-type': 'application/json' })).toEqual([
    400,
    'body_not_json',
    undefined,
  ]);
  expect(await refused('POST', '/v1/conversations', 'task=x', { 'content-type': 'text/plain' })).toEqual([
    400,
    'body_not_json',
    undefined,
  ]);
  const { status, body: tooLarge } = await call('POST', '/v1/conversations', { task: 'x'.repeat(60_000) });
  expect([status, tooLarge]).toEqual([
    413,
    expect.objectContaining({
      code: 'body_too_large',
      next: expect.stringContaining('`server.bodyBytes` or `server.attachments`'),
    }),
  ]);
  await waitUntil('the worker names its agents', async () => (await listAgentsOfWorkers(harness.database)).length > 0);
  const choice = { agent: 'defualt' };
  expect(await refused('POST', '/v1/conversations', { task: 'x', ...choice })).toEqual([
    400,
    'invalid_argument',
    'agent',
  ]);
  const { body: unknown } = await call('POST', '/v1/responses', { model: 'defualt', input: 'x' });
  expect(unknown.error).toMatchObject({
    code: 'invalid_argument',
    param: 'model',
    message: expect.stringContaining('must be one of default; did you mean default?'),
  });
  expect(await refused('PATCH', '/v1/conversations')).toEqual([404, 'route_not_found', undefined]);
  expect((await call('GET', '/v1/nowhere')).body.detail).toBe('There is no route GET /v1/nowhere.');
  const { body: noAddress } = await call('POST', '/v1/webhooks', { url: 'nowhere' });
  expect(noAddress.errors).toEqual([{ field: 'url', message: expect.stringContaining('http://') }]);
  expect(harness.faults).toEqual([]);
});

test('pages of other sites, and names that only lead here, are refused', async () => {
  const { call, server } = harness;
  const from = async (headers: Record<string, string>) =>
    (await call('GET', '/v1/conversations', undefined, headers)).status;
  expect(await from({ origin: 'https://elsewhere.example' })).toBe(403);
  expect(await from({ 'sec-fetch-site': 'cross-site' })).toBe(403);
  // A page of this server; its browser is not logged in.
  expect(await from({ origin: server.url })).toBe(401);
  const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
    const path = `${server.url}/v1/conversations`;
    get(path, { headers: { host: 'rebound.example' } }, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode });
    }).on('error', reject);
  });
  expect(status).toBe(403);
});

test('the reference and its document name every route and load nothing from elsewhere', async () => {
  const { call } = harness;
  const document = (await call('GET', '/openapi.json')).body;
  expect((await call('GET', '/reference.css')).headers.get('content-type')).toBe('text/css');
  expect(document.components.securitySchemes).toEqual({ key: { type: 'http', scheme: 'bearer' } });
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/conversations/{conversationId}/events', '/entries/{entryId}/content', '/agents']),
  );
  expect(document.paths['/conversations'].post).toMatchObject({
    security: [{ key: ['write'] }, {}],
    // Some of its fields may be left out, and not all.
    requestBody: { required: true },
    responses: {
      201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/SentMessage' } } } },
      409: { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } },
      429: { description: expect.stringContaining('`too_many_turns`'), headers: { 'Retry-After': expect.anything() } },
    },
  });
  const page = (await call('GET', '/reference')).body;
  for (const path of Object.keys(document.paths)) expect(page).toContain(path);
  expect(page).not.toMatch(/https?:|<script/u);
  for (const [name, items] of Object.entries(CONFIGURED)) {
    expect((await call('GET', `/v1/${name}`)).body).toEqual({ items });
  }
  expect((await call('GET', '/healthz')).status).toBe(200);
  expect((await call('GET', '/readyz')).status).toBe(200);
  // Last: it holds up this process for so long that the server gives up connections without a request.
  const validator = new Validator();
  expect(await validator.validate(document)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});
