import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connect } from '../../src/client/connect.ts';
import type { HoldfastClient } from '../../src/client/holdfast.ts';
import type { SentMessage } from '../../src/client/types.ts';
import { ENDPOINTS } from '../../src/client/api/endpoints.ts';
import { serveHealth } from '../../src/worker/health.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { newId } from '../../src/store/database/ids.ts';
import { insertMemory } from '../support/insert-memory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readInPages, startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

let harness: ServerHarness;
let worker: RunningWorker;
let remote: HoldfastClient;

/** Endpoints of which a client was asked, by the client. */
const asked = { local: new Set<string>(), remote: new Set<string>() };

function recorded(client: HoldfastClient, names: Set<string>): HoldfastClient {
  const noted = <Target extends object>(target: Target, prefix: string): Target =>
    new Proxy(target, {
      get(of, key) {
        const value: unknown = Reflect.get(of, key);
        if (typeof value === 'object' && value !== null) return noted(value, `${String(key)}.`);
        if (typeof value !== 'function') return value;
        names.add(`${prefix}${String(key)}`);
        return value.bind(of);
      },
    });
  return noted(client, '');
}

beforeAll(async () => {
  harness = await startServerHarness({
    agent: {
      tools: ['write_file', 'ask_user', 'run_command'],
      allowCommands: true,
      approvals: { rules: ['write_file'] },
    },
  });
  worker = await harness.startWorker();
  remote = await connect({ url: harness.server.url });
});
afterAll(async () => {
  await remote.close();
  await harness.stop();
});

describe.each([
  ['the database', (): HoldfastClient => recorded(harness.client, asked.local)],
  ['a server', (): HoldfastClient => recorded(remote, asked.remote)],
])('a client of %s', (_, clientOf) => {
  test('starts a task, tells its events and its result', async () => {
    const task = await clientOf().start('Say heron');
    const kinds: string[] = [];
    for await (const event of task.events()) kinds.push(event.kind);
    expect([kinds[0], kinds.at(-1)]).toEqual(['turn_begun', 'turn_ended']);
    expect(await task.result()).toMatchObject({ state: 'ended', outcome: 'completed', text: 'heron' });
    const output = z.object({ bird: z.string() });
    const formed = await clientOf().start('Say {"bird":"crane"}', { output });
    const found = await formed.result();
    expect(found.output?.bird).toBe('crane');
    const next = await formed.conversation.send('Say {"bird":7}', { output });
    expect(await next.result()).toMatchObject({ reason: 'output_invalid' });
    const again = await formed.conversation.send('Say {"bird":"heron"}');
    expect(await again.result({ output })).toMatchObject({ output: { bird: 'heron' } });
  });

  test('sends once, and refuses with the same codes', async () => {
    const client = clientOf();
    const startKey = newId();
    const messageId = ' erste – ① ';
    const { conversation } = await client.start('Say one', { startKey });
    const started = await client.start('Say one', { startKey });
    expect(started).toMatchObject({ conversationId: conversation.id, duplicate: true });
    const first = await conversation.send('Say two', { messageId, mode: 'queue' });
    const again = await conversation.send('Say two', { messageId, mode: 'queue' });
    expect([first.duplicate, again.duplicate]).toEqual([false, true]);
    await first.result();
    const code = (refused: Promise<unknown>) => refused.catch((error: { code: string }) => error.code);
    const reused = { conversationId: conversation.id, messageId, content: 'Say three' };
    expect(await code(client.conversation.send(reused))).toBe('message_id_reused');
    expect(await code(client.start('Say two', { startKey }))).toBe('message_id_reused');
    expect(await code(client.conversation.get({ conversationId: newId() }))).toBe('conversation_not_found');
    expect(await code(client.conversation.resume({ conversationId: conversation.id }))).toBe('nothing_to_resume');
    expect(await code(client.branches.switch({ conversationId: conversation.id, branch: 9 }))).toBe('branch_not_found');
    expect(await code(client.decisions.approve({ conversationId: conversation.id }))).toBe('decision_not_found');
    expect(await code(client.log.entries({ conversationId: conversation.id, limit: 0 }))).toBe('invalid_argument');
    expect(await code(client.conversation.outcome({ ...first, timeoutMilliseconds: 0, messageId: 'none' }))).toBe(
      'invalid_argument',
    );
  });

  test('shows all who watch a conversation each event once, whenever they come', async () => {
    const client = clientOf();
    const { conversation, ...first } = await client.start('Say one');
    const follow = async (afterSequence: number): Promise<number[]> => {
      const leaving = new AbortController();
      const seen: number[] = [];
      let ended = afterSequence === 0 ? 0 : 1;
      const watched = { conversationId: conversation.id, signal: leaving.signal, afterSequence };
      for await (const update of client.conversation.watch(watched)) {
        if (update.type !== 'event') continue;
        seen.push(update.event.sequence);
        if (update.event.kind === 'turn_ended') ended += 1;
        if (ended === 3) leaving.abort();
      }
      return seen;
    };
    const early = Array.from({ length: 5 }, () => follow(0));
    await first.result();
    const { eventCount } = await client.conversation.get({ conversationId: conversation.id });
    const late = [follow(0), follow(eventCount), follow(eventCount)];
    await (await conversation.send('Say two', { mode: 'queue' })).result();
    await (await conversation.send('Say three', { mode: 'queue' })).result();
    const [whole = [], ...others] = await Promise.all([...early, ...late]);
    expect(whole.length).toBeGreaterThan(eventCount);
    expect(whole).toEqual(whole.map((_, place) => place + 1));
    for (const seen of others) expect(seen).toEqual(whole.slice(-seen.length));
    expect(others.map((seen) => whole.length - seen.length)).toEqual([0, 0, 0, 0, 0, eventCount, eventCount]);
  });

  test('decides calls, and takes answers', async () => {
    const client = clientOf();
    const write = 'Call write_file with {"path":"a.txt","content":"x"}';
    const asks = [write, 'Call ask_user with {"question":"Which?"}', write, 'Say done'];
    const { conversationId, ...task } = await client.start(asks.join('\n'));
    const of = { conversationId };
    const next = async (): Promise<string> => {
      const waits = async () => (await client.conversation.get(of)).waitingCalls;
      await waitUntil('a call waits', async () => (await waits()).length > 0);
      return (await waits())[0]?.call ?? '';
    };
    const call = await next();
    const other = await client.start(write);
    await waitUntil('both wait', async () => (await client.decisions.listWaiting()).items.length === 2);
    const first = await client.decisions.listWaiting({ limit: 1 });
    expect(first).toMatchObject({ items: [{ conversationId, call }], hasMore: true });
    const after = await client.decisions.listWaiting({ after: `${conversationId}/${call}` });
    expect(after).toMatchObject({ items: [{ conversationId: other.conversationId }], hasMore: false });
    const approval = { ...of, call, for: 'agent', decisionId: newId() } as const;
    expect(await client.decisions.approve(approval)).toMatchObject({ tool: 'write_file', decided: 2 });
    expect(await client.decisions.approve(approval)).toMatchObject({ duplicate: true });
    expect(await client.decisions.listStanding()).toMatchObject([{ rule: 'write_file', decision: 'approved' }]);
    await client.decisions.endStanding({ agent: 'default', rule: 'write_file' });
    expect(await client.decisions.listStanding()).toEqual([]);
    await client.decisions.answer({ ...of, call: await next(), text: 'The second.' });
    await client.decisions.deny({ ...of, call: await next(), reason: 'Not now.' });
    expect(await task.result()).toMatchObject({ outcome: 'completed', text: 'done' });
    await other.result();
  });

  test('compacts, pins, branches and stops, and deletes in the end', async () => {
    const client = clientOf();
    const count = 'Call run_command with {"command":"seq 90000"}';
    const { conversationId, ...task } = await client.start(`${count}\nSay one`);
    const of = { conversationId };
    await task.result();
    const done = async (sent: Promise<SentMessage>) => client.conversation.outcome(await sent);
    const ended = { state: 'ended', outcome: 'completed' };
    expect(await done(client.conversation.pin({ ...of, rule: 'Be brief.' }))).toMatchObject(ended);
    expect(await client.conversation.pins(of)).toEqual(['Be brief.']);
    await expect(client.conversation.unpin({ ...of, pin: 2 })).rejects.toThrow('there is no pin 2 (there are: 1)');
    await done(client.conversation.unpin({ ...of, pin: 1 }));
    expect(await client.conversation.pins(of)).toEqual([]);
    expect(await done(client.conversation.compact({ ...of, focus: 'one' }))).toMatchObject({ state: 'ended' });
    const { items } = await client.log.entries({ ...of, afterSequence: 0 });
    const { entryId = '' } = items.find(({ kind }) => kind === 'user') ?? {};
    expect(await client.log.around({ entryId, count: 1 })).toHaveLength(2);
    await done(client.branches.regenerate({ ...of, entryId }));
    expect(await done(client.branches.edit({ ...of, entryId, content: 'Say two' }))).toMatchObject({ text: 'two' });
    await done(client.branches.fork({ ...of, entryId, summarize: false }));
    expect(await client.branches.active(of)).toMatchObject({ branch: 3, headEntryId: entryId });
    await done(client.branches.switch({ ...of, branch: 0, summarize: false }));
    expect(await client.branches.active(of)).toMatchObject({ branch: 0, active: true });
    expect(await done(client.conversation.stop(of))).toMatchObject({ state: 'served' });
    expect(await client.log.open({ entryId })).toMatchObject({ entryId, kind: 'user', original: null });
    const { entryId: counted = '' } = items.find(({ kind }) => kind === 'tool_result') ?? {};
    const { original, originalBytes } = await client.log.open({ entryId: counted });
    expect(new TextDecoder().decode(original?.subarray(0, 4))).toBe('1\n2\n');
    expect(original).toHaveLength(originalBytes ?? 0);
    const lines: string[] = [];
    await client.conversation.export({ ...of, write: (line) => void lines.push(line) });
    expect(await client.conversation.delete(of)).not.toEqual([]);
    const gone = { code: 'conversation_not_found' };
    await expect(client.conversation.get(of)).rejects.toMatchObject(gone);
    const imported = await client.conversation.import({ lines: Readable.from(lines) });
    expect(imported).toMatchObject({ conversationId, entries: (await client.conversation.get(of)).entryCount });
    await expect(client.memory.forget({ memoryId: newId() })).rejects.toMatchObject({ code: 'memory_not_found' });
  });

  test('names addresses that are told of events', async () => {
    const { webhooks } = clientOf();
    const { webhookId, secret } = await webhooks.create({ url: 'https://example.org/hook', events: ['turn_ended'] });
    expect(secret).toMatch(/^whsec_/u);
    expect(await webhooks.list()).toMatchObject([{ webhookId, events: ['turn_ended'] }]);
    expect(await webhooks.retry({ deliveryId: newId() })).toBe(false);
    expect([await webhooks.delete({ webhookId }), await webhooks.delete({ webhookId })]).toEqual([true, false]);
  });
});

test('both read the same, and what a server answers is what its schemas say', async () => {
  const { client } = harness;
  const task = await client.start('Say the same');
  await task.result();
  const { conversationId } = task;
  const of = { conversationId };
  const read = async (from: HoldfastClient): Promise<Record<string, unknown>> => ({
    'conversation.get': await from.conversation.get(of),
    'conversation.list': await from.conversation.list({ limit: 3 }),
    'conversation.pins': await from.conversation.pins(of),
    'branches.list': await from.branches.list(of),
    'branches.active': await from.branches.active(of),
    'log.entries': await from.log.entries({ ...of, afterSequence: 0 }),
    'log.count': await from.log.count(of),
    'log.findEntryId': await from.log.findEntryId({ ...of, sequence: 1 }),
    'log.summaries': await from.log.summaries(of),
    'log.searchSummaries': await from.log.searchSummaries({ ...of, query: 'same' }),
    'log.lineage': await from.log.lineage(of),
    'log.audit': await from.log.audit(of),
    'log.events': await from.log.events({ ...of, kinds: ['turn_begun', 'turn_ended'] }),
    'log.context': await from.log.context(of),
    'log.view': await from.log.view({ ...of, callNumber: 1 }),
    'log.modelCalls': await from.log.modelCalls(of),
    'memory.search': await from.memory.search({ ...of, query: 'same' }),
    'memory.list': await from.memory.list(),
    'memory.countUnindexed': await from.memory.countUnindexed(of),
    'decisions.listWaiting': await from.decisions.listWaiting(),
    'decisions.listMade': await from.decisions.listMade(),
    'decisions.listStanding': await from.decisions.listStanding(),
    'webhooks.list': await from.webhooks.list(),
    'webhooks.listFailed': await from.webhooks.listFailed(),
    'models.costs': await from.models.costs({ by: 'turn', ...of, since: '2020-01-01T00:00:00Z' }),
    'models.listServed': await from.models.listServed(),
    'models.listPauses': await from.models.listPauses(),
  });
  const clients = [recorded(client, asked.local), recorded(remote, asked.remote)] as const;
  const [local, served] = [await read(clients[0]), await read(clients[1])];
  for (const each of clients) {
    const none = { code: 'invalid_argument', message: expect.stringContaining('Two summaries are needed') };
    await expect(each.log.summaryDifference(of)).rejects.toMatchObject(none);
  }
  expect(served).toEqual(local);
  for (const [name, answer] of Object.entries(served)) {
    const { result } = ENDPOINTS[name as keyof typeof ENDPOINTS];
    // Parsed, an answer loses what its schema does not name.
    expect([name, result.parse(answer)]).toEqual([name, answer]);
  }
});

test('a list goes on where its page ended', async () => {
  const { client, database } = harness;
  const { conversationId, ...task } = await client.start('Say one');
  await task.result();
  const memory = { kind: 'fact', origin: 'user', scope: 'agent', scopeName: 'default', tenant: 'default' } as const;
  for (const text of ['One.', 'Two.', 'Three.']) await insertMemory(database, { ...memory, id: newId(), text });
  const { webhookId } = await client.webhooks.create({ url: 'https://example.org/hook' });
  await database`
    insert into holdfast.webhook_deliveries (webhook_id, tenant, conversation_id, event, body, due_at)
    select ${webhookId}, 'default', ${conversationId}, 'turn_ended', '{}', null from generate_series(1, 3)`;
  const lists = [
    readInPages({ list: (page) => remote.memory.list(page), next: ({ id }) => ({ before: id }) }),
    readInPages({ list: (page) => remote.webhooks.listFailed(page), next: (of) => ({ before: of.deliveryId }) }),
    readInPages({
      list: (page) => remote.decisions.listMade(page),
      next: (of) => ({ before: `${of.conversationId}/${of.call}` }),
    }),
    readInPages({
      list: (page) => remote.log.events({ conversationId, ...page }),
      next: ({ sequence: beforeSequence }) => ({ beforeSequence }),
      isNewestLast: true,
    }),
  ];
  for (const { whole, pages } of await Promise.all(lists)) {
    expect(whole.length).toBeGreaterThan(2);
    expect(pages).toEqual(whole);
  }
});

test('the tests above ask both clients of every endpoint', () => {
  const names = [...Object.keys(ENDPOINTS), 'conversation.watch', 'conversation.export', 'conversation.import'];
  for (const seen of Object.values(asked)) expect([...seen]).toEqual(expect.arrayContaining(names));
});

test('a worker answers probes, and is not ready once it shuts down', async () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const url = `http://127.0.0.1:${await serveHealth(0, { checkReady: () => worker.checkReady(), ended })}`;
  const statusOf = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
  expect([await statusOf('/healthz'), await statusOf('/readyz'), await statusOf('/')]).toEqual([200, 200, 404]);
  worker.shutdown();
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 503]);
  end();
});
