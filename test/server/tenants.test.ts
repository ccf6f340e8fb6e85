import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Endpoint } from '../../src/client/api/endpoint.ts';
import { ENDPOINTS } from '../../src/client/api/endpoints.ts';
import { connectTenants } from '../../src/client/tenants.ts';
import type { TenantClients } from '../../src/client/tenants.ts';
import { serverLimits } from '../../src/server/limits.ts';
import type { RunningServer } from '../../src/server/start-server.ts';
import { newId } from '../../src/store/database/ids.ts';
import { isolateTenants } from '../../src/store/database/migration-ledger.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { callServer, readEvents } from './server-harness.ts';
import type { Answer } from './server-harness.ts';
import {
  lengthenEntries,
  OWN_LISTS,
  otherRequests,
  ownConversation,
  ownDecisions,
  ownRows,
  requestOf,
  startKeyedServer,
  urlOfLogin,
} from './tenant-requests.ts';

let harness: TurnHarness;
let tenants: TenantClients;
let server: RunningServer;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { approvals: { rules: ['write_file'] } } });
  await harness.startWorker();
  const { temporalAddress, taskQueue } = harness;
  const databaseUrl = await urlOfLogin(harness);
  const servers = { databaseUrl, taskQueue, temporal: { address: temporalAddress, namespace: 'default' } };
  const refused = {
    code: 'database_refused',
    message: expect.stringContaining('holdfast db migrate --tenants') as string,
  };
  await expect(connectTenants(servers)).rejects.toMatchObject(refused);
  await isolateTenants(harness.database);
  tenants = await connectTenants(servers);
  server = await startKeyedServer(tenants);
});
afterAll(async () => {
  await server.close();
  await tenants.close();
  await harness.stop();
});

type KeyOptions = Omit<Parameters<TurnHarness['client']['keys']['create']>[0], 'name'>;

async function keyOf(tenant: string, options: KeyOptions = {}): Promise<{ key: string; id: string }> {
  return harness.client.keys.create({ name: 'test', tenant, scopes: ['admin'], ...options });
}

/** A turn that is not begun, because no worker has the agent. */
const BEHIND_NOBODY = { task: 'Say one', agent: 'nobody' };

const MCP_ACCEPTS = { accept: 'application/json, text/event-stream' };

function callAs(key: string | null, method: string, path: string, body?: unknown): Promise<Answer> {
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  return callServer(server.url, method, path, body, { ...MCP_ACCEPTS, ...authorization });
}

function ask(key: string, endpoint: Endpoint, ids: Readonly<Record<string, string>>): Promise<Answer> {
  const [method, path, body] = requestOf(endpoint, ids);
  return callAs(key, method, path, body);
}

test('on every route the ids of another tenant are as unknown as ids that nobody has', async () => {
  const [ada, bob] = [(await keyOf('ada')).key, (await keyOf('bob')).key];
  const asked = await ownConversation(harness, (...request) => callAs(ada, ...request));
  const { webhookId } = (await callAs(bob, 'POST', '/v1/webhooks', { url: 'https://example.org' })).body;
  const ids = { ...asked, ...(await ownRows(harness, asked, webhookId)) };
  const { conversationId: own } = (await callAs(bob, 'POST', '/v1/conversations', BEHIND_NOBODY)).body;
  const unknown = Object.fromEntries(Object.keys(ids).map((name) => [name, newId()]));
  const shown = ({ status, body }: Answer, of: Readonly<Record<string, string>>): unknown =>
    Object.entries(of).reduce((text, [name, id]) => text.replaceAll(id, `<${name}>`), JSON.stringify({ status, body }));
  let walked = 0;
  for (const [name, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    if (name === 'start' || name === 'webhooks.create') continue;
    const [theirs, nobodys] = [await ask(bob, endpoint, ids), await ask(bob, endpoint, unknown)];
    expect([name, shown(theirs, ids)]).toEqual([name, shown(nobodys, unknown)]);
    expect([name, theirs.status], JSON.stringify(theirs.body)).not.toEqual([name, 400]);
    walked += 1;
  }
  expect(walked).toBe(Object.keys(ENDPOINTS).length - 2);
  const nobodysRequests = otherRequests(unknown, own);
  for (const [place, request] of otherRequests(ids, own).entries()) {
    const [theirs, nobodys] = [
      await callAs(bob, ...request),
      await callAs(bob, ...(nobodysRequests[place] ?? request)),
    ];
    expect([request, shown(theirs, ids)]).toEqual([request, shown(nobodys, unknown)]);
    if (/^\/(?:mcp|v1\/responses)/u.test(request[1])) expect(String(shown(theirs, ids))).toContain('_not_found');
  }
  await ownDecisions(harness, (...request) => callAs(ada, ...request));
  await callAs(bob, 'DELETE', `/v1/webhooks/${webhookId}`);
  for (const list of OWN_LISTS) {
    const items = [];
    for (const key of [ada, bob]) items.push((await callAs(key, 'GET', `/v1/${list}`)).body.items.length);
    expect([list, ...items]).toEqual([list, 1, 0]);
  }
  const retry = `/v1/webhook-failures/${ids['deliveryId']}/retry`;
  expect((await callAs(bob, 'POST', retry)).body).toEqual({ value: false });
  expect((await callAs(ada, 'POST', retry)).body).toEqual({ value: true });
  // All of it is still there for the one whose it is.
  const theirs = await callAs(ada, 'GET', `/v1/conversations/${ids['conversationId']}`);
  expect(theirs.body).toMatchObject({ waitingMessages: 0, entryCount: 2 });
  // A search indexes for a short time only what is newest.
  const search = () => callAs(ada, 'POST', '/v1/search', { agent: 'default', query: 'heron' });
  const isFound = async () => (await search()).body.items[0]?.conversationId === ids['conversationId'];
  await waitUntil('what was said is found', isFound);
});

test('whoever imports a file gets the same answer, whether it is of another tenant or of nobody', async () => {
  const { key } = await keyOf('ida');
  const ids = await ownConversation(harness, (...request) => callAs(key, ...request));
  const path = `/v1/conversations/${ids['conversationId']}/export`;
  const exported = await callAs(key, 'GET', path);
  expect([exported.status, exported.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  expect(exported.body).toContain('Say heron');
  const { key: other } = await keyOf('joe');
  expect((await callAs(other, 'GET', path)).body).toMatchObject({ code: 'conversation_not_found' });
  const importing = (query = ''): Promise<Answer> =>
    callServer(server.url, 'POST', `/v1/conversations/import${query}`, exported.body, {
      // The name of the scheme has no case.
      authorization: `bearer ${other}`,
      'content-type': 'application/x-ndjson',
    });
  expect((await importing('?workspace=/')).body).toMatchObject({ status: 400, code: 'invalid_argument' });
  const imported = await importing();
  expect([imported.status, imported.body]).toMatchObject([201, { turns: 1, entries: 2 }]);
  const { conversationId: own } = imported.body;
  expect(own).not.toBe(ids['conversationId']);
  expect((await importing()).body).toMatchObject({ status: 409, code: 'conversation_exists' });
  const found = await callAs(other, 'POST', '/v1/search', { conversationId: own, query: 'heron' });
  expect(found.body.items[0]).toMatchObject({ conversationId: own });
  for (const [holder, id] of [
    [other, own],
    [key, ids['conversationId']],
  ]) {
    expect((await callAs(holder, 'DELETE', `/v1/conversations/${id}`)).status).toBe(200);
  }
  expect(await importing()).toMatchObject({ status: imported.status, body: imported.body });
});

test('a key is needed, must be in force, and holds within its scopes', async () => {
  const { key: reader } = await keyOf('eve', { scopes: ['read'] });
  const { key: expired } = await keyOf('eve', { expiresAt: '2020-01-01T00:00:00Z' });
  const codeOf = async (key: string | null, method = 'GET', path = '/v1/conversations', body?: unknown) => {
    const answer = await callAs(key, method, path, body);
    return [answer.status, answer.body.code];
  };
  expect(await codeOf(null)).toEqual([401, 'key_missing']);
  expect(await codeOf('hf_guessed')).toEqual([401, 'key_refused']);
  expect(await codeOf(expired)).toEqual([401, 'key_refused']);
  expect(await codeOf(reader)).toEqual([200, undefined]);
  expect(await codeOf(reader, 'POST', '/v1/conversations', { task: 'x' })).toEqual([403, 'scope_missing']);
  const { key: writer } = await keyOf('eva', { scopes: ['write'] });
  const resume = `/v1/conversations/${newId()}/resume`;
  expect(await codeOf(writer, 'POST', resume, { raise: { steps: 5 } })).toEqual([403, 'scope_missing']);
  expect(await codeOf(writer, 'POST', resume)).toEqual([404, 'conversation_not_found']);
  const stored = await harness.database`select * from holdfast.api_keys`;
  expect(JSON.stringify(stored)).not.toContain(reader.slice(3));
  const listed = (await harness.client.keys.list()).find(({ tenant }) => tenant === 'eve');
  expect(listed).toMatchObject({ scopes: ['admin'], lastUsedAt: null });
});

test('limits of a key: requests a minute, open turns and cost a day', async () => {
  const { key: slow } = await keyOf('fay', { limits: { requestsPerMinute: 2 } });
  const answers = [];
  for (let request = 0; request < 3; request += 1) answers.push(await callAs(slow, 'GET', '/v1/conversations'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answers[2]?.body).toMatchObject({ detail: expect.stringContaining('2 requests a minute') });
  const { key: burst } = await keyOf('hal', { limits: { openTurns: 1 } });
  const wait = (startKey: string) => callAs(burst, 'POST', '/v1/conversations', { ...BEHIND_NOBODY, startKey });
  const begun = [await wait('first'), await wait('second')];
  expect(begun.map(({ status, body: { code } }) => [status, code])).toEqual([
    [201, undefined],
    [429, 'too_many_turns'],
  ]);
  const { key: crowd } = await keyOf('kim', { limits: { openTurns: 1 } });
  const second = await startKeyedServer(tenants);
  onTestFinished(() => second.close());
  const atOnce = await Promise.all(
    [second, server, second, server].map(({ url }) =>
      callServer(url, 'POST', '/v1/conversations', BEHIND_NOBODY, { authorization: `Bearer ${crowd}` }),
    ),
  );
  expect(atOnce.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 429, 429, 429]);
  // What was sent before is answered again, also where there is no room.
  expect((await wait('first')).body).toEqual({ ...begun[0]?.body, duplicate: true });
  const { key } = await keyOf('fay', { limits: { openTurns: 1 } });
  await harness.fault({ kind: 'hang', times: null });
  const begin = () => callAs(key, 'POST', '/v1/conversations', { task: 'Say one' });
  const { body } = await begin();
  const path = `/v1/conversations/${body.conversationId}`;
  const isBegun = ({ data }: { data: { kind?: string } }): boolean => data.kind === 'model_call_started';
  const untilBegun = (of: string) =>
    readEvents(`${server.url}${of}/events`, isBegun, { authorization: `Bearer ${key}` });
  await untilBegun(path);
  expect((await begin()).body).toMatchObject({ status: 429, code: 'too_many_turns' });
  const sendInto = (mode: string, messageId?: string) =>
    callAs(key, 'POST', `${path}/messages`, { content: 'Say two', mode, messageId });
  expect((await sendInto('queue', 'queued')).status).toBe(202);
  const { key: free } = await keyOf('fay');
  const { body: other } = await callAs(free, 'POST', '/v1/conversations', { task: 'Say three' });
  await untilBegun(`/v1/conversations/${other.conversationId}`);
  expect((await sendInto('steer')).status).toBe(202);
  expect((await sendInto('queue')).body).toMatchObject({ status: 429, code: 'too_many_turns' });
  expect((await sendInto('queue', 'queued')).body).toMatchObject({ duplicate: true });
  // Of a start it would be another key.
  const start = { task: 'Say two', startKey: 'queued' };
  expect((await callAs(key, 'POST', '/v1/conversations', start)).status).toBe(429);
  await harness.clearFaults();
  await callAs(key, 'POST', `/v1/conversations/${other.conversationId}/stop`);
  await callAs(key, 'POST', `${path}/stop`);
  await callAs(key, 'GET', `${path}/messages/${body.messageId}/outcome`);
  const { key: poor } = await keyOf('fay', { limits: { costPerDay: 0.01 } });
  await harness.database.begin(async (open) => {
    // Past the fence of the epoch.
    await open`set local session_replication_role = replica`;
    await open`update holdfast.model_attempts set cost = 0.02 where conversation_id = ${body.conversationId}`;
  });
  for (const refused of [
    await callAs(poor, 'POST', '/v1/conversations', { task: 'Say one' }),
    await callAs(poor, 'POST', `${path}/messages`, { content: 'Say two', mode: 'queue' }),
    await callAs(poor, 'POST', `${path}/compact`),
  ]) {
    expect(refused.body).toMatchObject({ status: 429, code: 'cost_limit_reached' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_600);
  }
});

test('a key that is revoked ends its event streams and exports, and what waits for a turn', async () => {
  const { key, id } = await keyOf('gil');
  const { conversationId = '' } = await ownConversation(harness, (...request) => callAs(key, ...request));
  const { body: unserved } = await callAs(key, 'POST', '/v1/conversations', BEHIND_NOBODY);
  const waiting = { conversation_id: unserved.conversationId, message_id: unserved.messageId, timeout_seconds: 3_600 };
  const params = { name: 'wait_for_turn', arguments: waiting };
  const waits = Promise.all([
    callAs(key, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    // Its head was there at once: nothing is left but to cut it off.
    callAs(key, 'POST', '/v1/responses', { model: 'nobody', input: 'Say one' }).catch(String),
    callAs(key, 'GET', `/v1/conversations/${unserved.conversationId}/messages/${unserved.messageId}/outcome`),
  ]);
  const isWaiting = async () => (await callAs(key, 'GET', '/v1/conversations?agent=nobody')).body.items.length === 2;
  await waitUntil('both wait', isWaiting);
  await lengthenEntries(harness, conversationId);
  const authorization = `Bearer ${key}`;
  const path = `/v1/conversations/${conversationId}`;
  const exporting = () => fetch(`${server.url}${path}/export`, { headers: { authorization } });
  const slow = [await exporting(), await exporting()];
  expect((await callAs(key, 'GET', `${path}/export`)).body).toMatchObject({ code: 'too_many_watchers' });
  expect((await callAs(key, 'GET', path)).status).toBe(200);
  let revoking: Promise<boolean> | undefined;
  const isLast = ({ event }: { event: string }): boolean => {
    revoking ??= harness.client.keys.revoke({ keyId: id });
    return event === 'error';
  };
  const events = await readEvents(`${server.url}${path}/events`, isLast, { authorization });
  expect(await revoking).toBe(true);
  expect(events.at(-1)?.data).toMatchObject({ code: 'key_refused' });
  const refused = { code: 'key_refused' };
  expect(await waits).toMatchObject([{ body: '' }, 'TypeError: terminated', { body: refused }]);
  for (const response of slow) await expect(response.text()).rejects.toThrow('terminated');
  // Looked at every so many seconds, where this file's server looks more often.
  expect(serverLimits.parse({}).keyCheckSeconds).toBeLessThan(5);
  expect((await callAs(key, 'GET', '/v1/conversations')).status).toBe(401);
  expect(await harness.client.keys.revoke({ keyId: 'none' })).toBe(false);
});

test('a page hands over a key once and gets a cookie that stands for it', async () => {
  const { key } = await keyOf('ada', { scopes: ['read'] });
  expect((await callServer(server.url, 'POST', '/login', { key: 'hf_wrong' })).status).toBe(401);
  const { status, headers } = await callServer(server.url, 'POST', '/login', { key });
  const [cookie = '', ...rest] = (headers.get('set-cookie') ?? '').split('; ');
  expect([status, rest.toSorted()]).toEqual([204, ['HttpOnly', 'Path=/', 'SameSite=Strict']]);
  const read = await callServer(server.url, 'GET', '/v1/conversations', undefined, { cookie });
  expect(read.body).toEqual((await callAs(key, 'GET', '/v1/conversations')).body);
  const refused = await callServer(server.url, 'POST', '/v1/conversations', { task: 'Say no' }, { cookie });
  expect(refused.body).toMatchObject({ status: 403, code: 'origin_refused' });
});

test('who has a key decides in its name', async () => {
  const { key } = await keyOf('decider');
  const task = 'Call write_file with {"path":"a.txt","content":"x"}\nSay done';
  const { body: sent } = await callAs(key, 'POST', '/v1/conversations', { task });
  const path = `/v1/conversations/${sent.conversationId}`;
  await waitUntil('the call waits', async () => (await callAs(key, 'GET', '/v1/decisions')).body.items.length === 1);
  await callAs(key, 'POST', `${path}/approve`, { decidedBy: 'somebody else' });
  const { body } = await callAs(key, 'GET', `${path}/timeline?kinds=decision_made`);
  expect(body.items).toMatchObject([{ data: { decision: 'approved', decidedBy: 'test' } }]);
});
