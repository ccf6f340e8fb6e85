import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connect } from '../../src/client/connect.ts';
import type { HoldfastClient } from '../../src/client/holdfast-client.ts';
import { ENDPOINTS } from '../../src/client/api/endpoints.ts';
import { serveHealth } from '../../src/worker/health.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { newId } from '../../src/store/database/ids.ts';
import { startServerHarness } from './server-harness.ts';
import type { ServerHarness } from './server-harness.ts';

let harness: ServerHarness;
let worker: RunningWorker;
let remote: HoldfastClient;

beforeAll(async () => {
  harness = await startServerHarness();
  worker = await harness.startWorker();
  remote = await connect({ url: harness.server.url });
});
afterAll(async () => {
  await remote.close();
  await harness.stop();
});

describe.each([
  ['the database', (): HoldfastClient => harness.client],
  ['a server', (): HoldfastClient => remote],
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
    const { conversation } = await client.start('Say one');
    const first = await conversation.send('Say two', { messageId: 'm1', mode: 'queue' });
    const again = await conversation.send('Say two', { messageId: 'm1', mode: 'queue' });
    expect([first.duplicate, again.duplicate]).toEqual([false, true]);
    await first.result();
    const code = (refused: Promise<unknown>) => refused.catch((error: { code: string }) => error.code);
    expect(await code(conversation.send('Say three', { messageId: 'm1' }))).toBe('message_id_reused');
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
    const { conversation, ...first } = await clientOf().start('Say one');
    const follow = async (afterSequence: number): Promise<number[]> => {
      const leaving = new AbortController();
      const seen: number[] = [];
      let ended = afterSequence === 0 ? 0 : 1;
      for await (const update of conversation.watch({ signal: leaving.signal, afterSequence })) {
        if (update.type !== 'event') continue;
        seen.push(update.event.sequence);
        if (update.event.kind === 'turn_ended') ended += 1;
        if (ended === 3) leaving.abort();
      }
      return seen;
    };
    const early = Array.from({ length: 5 }, () => follow(0));
    await first.result();
    const { eventCount } = await clientOf().conversation.get({ conversationId: conversation.id });
    const late = [follow(0), follow(eventCount), follow(eventCount)];
    await (await conversation.send('Say two', { mode: 'queue' })).result();
    await (await conversation.send('Say three', { mode: 'queue' })).result();
    const [whole = [], ...others] = await Promise.all([...early, ...late]);
    expect(whole.length).toBeGreaterThan(eventCount);
    expect(whole).toEqual(whole.map((_, place) => place + 1));
    for (const seen of others) expect(seen).toEqual(whole.slice(-seen.length));
    expect(others.map((seen) => whole.length - seen.length)).toEqual([0, 0, 0, 0, 0, eventCount, eventCount]);
  });

  test('watches until it leaves', async () => {
    const { conversation } = await clientOf().start('Say watched');
    const leaving = new AbortController();
    const seen: number[] = [];
    for await (const update of conversation.watch({ signal: leaving.signal, liveText: false })) {
      if (update.type !== 'event') continue;
      seen.push(update.event.sequence);
      if (update.event.kind === 'turn_ended') leaving.abort();
    }
    expect(seen).toEqual(seen.map((_, place) => place + 1));
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
  const [local, served] = [await read(client), await read(remote)];
  expect(served).toEqual(local);
  for (const [name, answer] of Object.entries(served)) {
    const { result } = ENDPOINTS[name as keyof typeof ENDPOINTS];
    // Parsed, an answer loses what its schema does not name.
    expect([name, result.parse(answer)]).toEqual([name, answer]);
  }
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
