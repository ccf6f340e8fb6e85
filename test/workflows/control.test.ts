import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { connect } from '../../src/client/connect.ts';
import type { ListedEntry, TimelineEvent } from '../../src/client/types.ts';
import { textOf } from '../../src/context/log/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { startDyingSender } from '../support/dying-sender.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createHeldCalls } from './support/held-calls.ts';

const { tool: hold, held, start } = createHeldCalls();
const startHolding = (name: string) => start(harness, name);

/** Finishes its work when it is told to stop, which takes it a moment. */
const publish = defineTool({
  name: 'publish',
  description: 'Publishes.',
  input: z.object({}),
  effect: 'once',
  exclusive: false,
  run: async (_, { signal }) => {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => setTimeout(resolve, 300), { once: true });
    });
    return { content: 'published, receipt 4711' };
  },
});

const harness = useTurnHarness({ tools: [hold, publish], agent: { tools: ['hold', 'publish', 'list_files'] } });

beforeAll(async () => {
  await harness.startWorker();
});

const shown = (entries: readonly ListedEntry[]): string[] =>
  entries.map((entry) => `${entry.kind}: ${textOf(entry.content)}`);

async function eventsOf(conversationId: string): Promise<TimelineEvent[]> {
  const { eventCount } = await harness.client.conversation.get({ conversationId });
  const events: TimelineEvent[] = [];
  for await (const update of harness.client.conversation.watch({ conversationId, liveText: false })) {
    if (update.type === 'event') events.push(update.event);
    if (events.length === eventCount) break;
  }
  return events;
}

test('steering messages enter in order at the next step and add no event to the history; a queued one starts the next turn', async () => {
  const { client } = harness;
  const sent = await startHolding('steered');
  const { conversationId } = sent;
  const handle = harness.temporal.workflow.getHandle(turnWorkflowId(conversationId));
  const { historyLength } = await handle.describe();
  const queued = await client.conversation.send({ conversationId, content: 'Say queued', mode: 'queue' });
  const steered = Array.from({ length: 20 }, (_, index) => `Say steered ${index}`);
  for (const content of steered) await client.conversation.send({ conversationId, content, mode: 'steer' });
  expect(await handle.describe()).toMatchObject({ historyLength });
  held.get('steered')?.release();
  const first = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  const second = await client.conversation.outcome({ ...queued, timeoutMilliseconds: 240_000 });
  expect(first.turnId).not.toBe(second.turnId);
  const texts = shown((await client.log.entries({ conversationId })).items);
  const place = (text: string): number => texts.findIndex((entry) => entry === text);
  expect(texts.filter((text) => text.startsWith('user'))).toEqual([
    'user: Call hold with {"name": "steered"}',
    ...steered.map((said) => `user: ${said}`),
    'user: Say queued',
  ]);
  expect(place('user: Say steered 0')).toBeGreaterThan(place('tool_result: released steered'));
  expect(place('assistant: steered 19')).toBeLessThan(place('user: Say queued'));
});

test.each([
  ['the running tool', 'stopped'],
  ['a tool that ignores it', 'deaf'],
])('a stop aborts %s, keeps what finished, and the conversation goes on', async (_, name) => {
  const { client } = harness;
  const sent = await startHolding(name);
  await client.conversation.stop({ conversationId: sent.conversationId });
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'stopped' });
  expect(held.get(name)?.abortedAt()).not.toBeNull();
  const { items: entries } = await client.log.entries({ conversationId: sent.conversationId });
  expect(shown(entries).at(-1)).toMatch(/^tool_result: The user stopped the turn/);
  held.get(name)?.release();
  expect((await harness.runTask('Say on', { conversationId: sent.conversationId })).outcome).toBe('completed');
});

test('a stop keeps what a tool call still finishes, though another one of the same answer ends before it', async () => {
  const { client } = harness;
  const sent = await client.start('Call hold with {"name": "beside"} and publish with {}');
  await waitUntil('both run', async () => {
    const running = await harness.database`
      select from tool_calls where conversation_id = ${sent.conversationId} and state = 'claimed'`;
    return held.has('beside') && running.length === 2;
  });
  await client.conversation.stop({ conversationId: sent.conversationId });
  expect(await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 })).toMatchObject({
    outcome: 'stopped',
  });
  const results = shown((await client.log.entries({ conversationId: sent.conversationId })).items).filter((entry) =>
    entry.startsWith('tool_result'),
  );
  expect(results).toHaveLength(2);
  expect(results).toContain('tool_result: published, receipt 4711');
});

test('a steering message that was sent before a stop is not answered until the user says something else', async () => {
  const { client } = harness;
  const sent = await startHolding('before the stop');
  const { conversationId } = sent;
  const steered = await client.conversation.send({ conversationId, content: 'Say steered', mode: 'steer' });
  await client.conversation.stop({ conversationId });
  const stopped = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(stopped).toMatchObject({ outcome: 'stopped' });
  const taken = await client.conversation.outcome({ ...steered, timeoutMilliseconds: 240_000 });
  expect(taken).toMatchObject({ turnId: stopped.turnId, outcome: 'stopped' });
  const next = await harness.runTask('Say on', { conversationId });
  expect(next.outcome).toBe('completed');
  const texts = shown((await client.log.entries({ conversationId })).items);
  expect(texts.slice(-3)).toEqual(['user: Say steered', 'user: Say on', 'assistant: on']);
});

test('a stop for an idle conversation is taken, answered at once and changes nothing', async () => {
  const turn = await harness.runTask('Say idle');
  const sent = await harness.client.conversation.stop({ conversationId: turn.conversationId });
  const served = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(served).toMatchObject({ state: 'served', turnId: null, outcome: 'nothing_to_do' });
  expect((await harness.client.conversation.get({ conversationId: turn.conversationId })).waitingMessages).toBe(0);
  // Asked again, with no worker needed.
  expect(await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 100 })).toEqual(served);
  expect((await harness.runTask('Say on', { conversationId: turn.conversationId })).outcome).toBe('completed');
});

test('a compaction asked of an idle conversation is a turn with no step, and the timeline says why it was declined', async () => {
  const turn = await harness.runTask('Say idle');
  const asked = await harness.client.conversation.compact({ conversationId: turn.conversationId });
  const compaction = await harness.client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 });
  expect(compaction).toMatchObject({ outcome: 'completed', steps: 0, reason: 'nothing_to_compact' });
  const events = await eventsOf(turn.conversationId);
  expect(events.filter(({ kind }) => kind === 'compaction_declined')).toMatchObject([
    { turnId: compaction.turnId, data: { reason: 'nothing_to_compact', tokens: expect.any(Number) } },
  ]);
});

/** Lets upkeep look again and again until a turn has taken the message. */
async function untilUpkeepRings(messageId: string): Promise<void> {
  await waitUntil('upkeep rings for the message', async () => {
    await harness.runUpkeep();
    const taken = await harness.database`select from messages where id = ${messageId} and consumed_at is not null`;
    return taken.length === 1;
  });
}

test('a row whose client was killed before its ring arrived is rung for by upkeep, and answered', async () => {
  const { database, databaseUrl, taskQueue } = harness;
  const { conversationId } = await harness.runTask('Say hello');
  // Takes the client's connection, and lets no byte pass.
  const network = await startTcpProxy(harness.temporalAddress);
  await network.blackHole();
  const doomed = startDyingSender([databaseUrl, network.address, taskQueue, conversationId]);
  const stored = async () => database<{ id: string }[]>`
    select id from messages where conversation_id = ${conversationId} and content::text like '%Say found%'`;
  await waitUntil('the row is there', async () => (await stored()).length === 1);
  doomed.kill();
  expect(await doomed.signal).toBe('SIGKILL');
  await network.close();
  const [sent] = await stored();
  const messageId = sent?.id ?? '';
  await untilUpkeepRings(messageId);
  const turn = await harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 240_000 });
  expect(turn.outcome).toBe('completed');
  // By the rows: what the test's own process is busy with does not count.
  const [row] = await database<{ seconds: number }[]>`
    select extract(epoch from t.begun_at - m.created_at)::float8 as seconds
    from messages m join turns t on t.id = m.turn_id where m.id = ${messageId}`;
  // Only once it is 5 s old: until then its sender rings itself.
  expect(row?.seconds).toBeGreaterThanOrEqual(5);
});

test.each(['was never answered', 'fell silent'])(
  'a sender whose connection to Temporal %s returns once its row is stored, gives its ring up after 2 s when it closes, and upkeep finds the row',
  async (connection) => {
    const { conversationId } = await harness.runTask('Say hello');
    const network = await startTcpProxy(harness.temporalAddress);
    const failures: unknown[] = [];
    const sender = await connect({
      databaseUrl: harness.databaseUrl,
      temporal: { address: network.address, namespace: 'default' },
      taskQueue: harness.taskQueue,
      onDoorbellFailure: (_, error) => failures.push(error),
    });
    if (connection === 'fell silent') {
      const heard = await sender.conversation.send({ conversationId, content: 'Say heard', mode: 'queue' });
      await harness.client.conversation.outcome({ ...heard, timeoutMilliseconds: 240_000 });
    }
    await network.blackHole();
    const sent = await sender.conversation.send({ conversationId, content: 'Say found', mode: 'queue' });
    // Measured: a connection that is not answered fails after 5 s, a ring on one that fell silent after 190 s.
    expect(failures).toEqual([]);
    expect(await harness.database`select from messages where id = ${sent.messageId}`).toHaveLength(1);
    await waitUntil('it rings', () => network.connections() > 0);
    expect(failures).toEqual([]);
    await sender.close();
    expect(failures).toEqual([new Error('Temporal did not answer within 2000 ms')]);
    await network.close();
    await untilUpkeepRings(sent.messageId);
    const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
    expect(turn.outcome).toBe('completed');
  },
);

test('a stop aborts a model call that hangs, and the provider is asked no more', async () => {
  await harness.fault({ kind: 'hang', times: 1 });
  const before = (await harness.asked()).total;
  const sent = await harness.client.start('Say hello');
  await waitUntil('the model is asked', async () => (await harness.asked()).total === before + 1);
  await harness.client.conversation.stop({ conversationId: sent.conversationId });
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn.outcome).toBe('stopped');
  const [row] = await harness.database<{ estimated: number }[]>`
    select estimated_tokens as estimated from model_attempts
    where purpose = 'step' and conversation_id = ${sent.conversationId} and failure_kind = 'aborted'`;
  expect((await harness.asked()).total).toBe(before + 1);
  // What was sent is charged, whoever ends the answer.
  expect(turn).toMatchObject({ usage: { input: row?.estimated } });
  expect(row?.estimated).toBeGreaterThan(100);
});
