import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ListedEntry, TimelineEvent } from '../../src/client/types.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { turnWorkflowId } from '../../src/temporal/names.ts';
import { textOf } from '../../src/context/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

let harness: TurnHarness;
let worker: RunningWorker;
/** Calls of the tool `hold` that are running; each ends when it is released or aborted, the one named `deaf` when released only. */
const held = new Map<string, { release: () => void; abortedAt: () => number | null }>();

const hold = defineTool({
  name: 'hold',
  description: 'Waits until it is released.',
  input: z.object({ name: z.string() }),
  effect: 'none',
  run: async ({ name }, { signal }) => {
    await new Promise<void>((resolve) => {
      let abortedAt: number | null = null;
      signal.addEventListener('abort', () => (abortedAt = performance.now()), { once: true });
      held.set(name, { release: resolve, abortedAt: () => abortedAt });
      if (name !== 'deaf') signal.addEventListener('abort', () => resolve(), { once: true });
    });
    signal.throwIfAborted();
    return { content: `released ${name}` };
  },
});

beforeAll(async () => {
  harness = await startTurnHarness({ tools: [hold], agent: { tools: ['hold', 'list_files'] } });
  worker = await harness.startWorker();
});

afterAll(() => harness.stop());

const shown = (entries: readonly ListedEntry[]): string[] =>
  entries.map((entry) => `${entry.kind}: ${textOf(entry.content)}`);

async function eventsOf(conversationId: string): Promise<TimelineEvent[]> {
  const { eventCount } = await harness.client.getConversation(conversationId);
  const events: TimelineEvent[] = [];
  for await (const update of harness.client.watch({ conversationId, liveText: false })) {
    if (update.type === 'event') events.push(update.event);
    if (events.length === eventCount) break;
  }
  return events;
}

async function startHolding(name: string): Promise<{ conversationId: string; messageId: string }> {
  const sent = await harness.client.startTask({ task: `Call hold with {"name": "${name}"}` });
  await waitUntil(`${name} is held`, () => held.has(name));
  return sent;
}

test('a steering message enters at the next step, a queued one starts the next turn', async () => {
  const { client } = harness;
  const sent = await startHolding('steered');
  const { conversationId } = sent;
  const queued = await client.sendMessage({ conversationId, content: 'Say queued', mode: 'queue' });
  await client.sendMessage({ conversationId, content: 'Say steered', mode: 'steer' });
  held.get('steered')?.release();
  const first = await client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  const second = await client.waitForOutcome({ ...queued, timeoutMilliseconds: 120_000 });
  expect(first.turnId).not.toBe(second.turnId);
  const texts = shown(await client.listEntries({ conversationId }));
  const place = (text: string): number => texts.findIndex((entry) => entry === text);
  expect(texts.filter((text) => text.startsWith('user'))).toEqual([
    'user: Call hold with {"name": "steered"}',
    'user: Say steered',
    'user: Say queued',
  ]);
  expect(place('user: Say steered')).toBeGreaterThan(place('tool_result: released steered'));
  expect(place('assistant: steered')).toBeLessThan(place('user: Say queued'));
});

test.each([
  ['the running tool', 'stopped'],
  ['a tool that ignores it', 'deaf'],
])('a stop aborts %s within 2 s, keeps what finished, and the conversation goes on', async (_, name) => {
  const { client, database } = harness;
  const sent = await startHolding(name);
  const stop = await client.stop({ conversationId: sent.conversationId });
  const turn = await client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'stopped' });
  expect(held.get(name)?.abortedAt()).not.toBeNull();
  const [took] = await database<{ result: number; turn: number }[]>`
    select extract(epoch from max(e.created_at) - m.created_at)::float8 as result,
      extract(epoch from t.ended_at - m.created_at)::float8 as turn
    from messages m join turns t on t.id = ${turn.turnId} join entries e on e.turn_id = t.id
    where m.id = ${stop.messageId} and e.kind = 'tool_result' group by m.created_at, t.ended_at`;
  expect(took?.result).toBeLessThan(2);
  expect(took?.turn).toBeLessThan(2);
  const entries = await client.listEntries({ conversationId: sent.conversationId });
  expect(shown(entries).at(-1)).toMatch(/^tool_result: The user stopped the turn/);
  held.get(name)?.release();
  expect((await harness.runTask('Say on', { conversationId: sent.conversationId })).outcome).toBe('completed');
});

/** When requests of a model were closed before they were answered: the simulator runs in this process. */
function watchClosedRequests(): readonly number[] {
  const closed: number[] = [];
  const watch = (message: unknown): void => {
    const { response } = message as { readonly response: ServerResponse };
    response.once('close', () => {
      if (!response.writableFinished) closed.push(performance.now());
    });
  };
  subscribe('http.server.request.start', watch);
  onTestFinished(() => void unsubscribe('http.server.request.start', watch));
  return closed;
}

test.each([
  ['cancel', 'stopped'],
  ['terminate', 'interrupted'],
] as const)(
  'a %s by Temporal itself aborts the running tool and closes the request of a model within 2 s: the turn is %s, and the conversation goes on',
  async (end, outcome) => {
    const { client } = harness;
    const closed = watchClosedRequests();
    await harness.fault({ kind: 'hang', times: 1, match: { containing: `Say ${end}` } });
    const acting = await startHolding(end);
    const before = (await harness.requests()).total;
    const asking = await client.startTask({ task: `Say ${end}` });
    await waitUntil('the model is asked', async () => (await harness.requests()).total === before + 1);
    expect([held.get(end)?.abortedAt(), closed]).toEqual([null, []]);
    const ended = performance.now();
    for (const { conversationId } of [acting, asking])
      await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId))[end]();
    // Before anything else is sent: nobody but Temporal tells the worker.
    await waitUntil('both are aborted', () => held.get(end)?.abortedAt() !== null && closed.length === 1);
    expect((held.get(end)?.abortedAt() ?? Infinity) - ended).toBeLessThan(2_000);
    expect((closed[0] ?? Infinity) - ended).toBeLessThan(2_000);
    for (const sent of [acting, asking]) {
      const next = await harness.runTask('Say on', { conversationId: sent.conversationId });
      expect(next.outcome).toBe('completed');
      expect((await client.waitForOutcome({ ...sent, timeoutMilliseconds: 1_000 })).outcome).toBe(outcome);
    }
  },
);

test('after a terminate the next message repairs the conversation: the dead turn is interrupted, its open call closed', async () => {
  const sent = await startHolding('terminated');
  await harness.temporal.workflow.getHandle(turnWorkflowId(sent.conversationId)).terminate('test');
  const next = await harness.runTask('Say on', { conversationId: sent.conversationId });
  expect(next.outcome).toBe('completed');
  const dead = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 1_000 });
  expect(dead.outcome).toBe('interrupted');
  const entries = await harness.client.listEntries({ conversationId: sent.conversationId });
  expect(shown(entries).find((text) => text.startsWith('tool_result'))).toMatch(/Outcome unknown/);
  held.get('terminated')?.release();
});

test('resume is refused while a turn runs; after a terminate it repairs the conversation at once and goes on', async () => {
  const sent = await startHolding('resumed');
  const { conversationId } = sent;
  await expect(harness.client.resume({ conversationId })).rejects.toMatchObject({
    code: 'nothing_to_resume',
    message: `conversation ${conversationId} has a turn that runs: wait for its end, or stop it first`,
  });
  await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).terminate('test');
  const resumed = await harness.client.resume({ conversationId });
  const next = await harness.client.waitForOutcome({ ...resumed, timeoutMilliseconds: 120_000 });
  const dead = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 1_000 });
  expect([dead.outcome, next.outcome]).toEqual(['interrupted', 'completed']);
  expect(next.turnId).not.toBe(dead.turnId);
  held.get('resumed')?.release();
});

test('a stop for an idle conversation is taken, answered at once and changes nothing', async () => {
  const turn = await harness.runTask('Say idle');
  const sent = await harness.client.stop({ conversationId: turn.conversationId });
  const served = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(served).toMatchObject({ state: 'served', turnId: null, outcome: 'nothing_to_do' });
  expect((await harness.client.getConversation(turn.conversationId)).waitingMessages).toBe(0);
  // Asked again, with no worker needed.
  expect(await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 100 })).toEqual(served);
  expect((await harness.runTask('Say on', { conversationId: turn.conversationId })).outcome).toBe('completed');
});

test('a compaction asked of an idle conversation is a turn with no step, and the timeline says why it was declined', async () => {
  const turn = await harness.runTask('Say idle');
  const asked = await harness.client.requestCompaction({ conversationId: turn.conversationId });
  const compaction = await harness.client.waitForOutcome({ ...asked, timeoutMilliseconds: 120_000 });
  expect(compaction).toMatchObject({ outcome: 'completed', steps: 0, reason: 'nothing_to_compact' });
  const events = await eventsOf(turn.conversationId);
  expect(events.filter(({ kind }) => kind === 'compaction_declined')).toMatchObject([
    { turnId: compaction.turnId, data: { reason: 'nothing_to_compact', tokens: expect.any(Number) } },
  ]);
});

test('sending the same message id twice enters it once; other content under the id is refused', async () => {
  const { client } = harness;
  const turn = await harness.runTask('Say first');
  const { conversationId } = turn;
  const message = {
    conversationId,
    content: 'Say twice',
    messageId: `twice-${conversationId}`,
    mode: 'queue',
  } as const;
  const one = await client.sendMessage(message);
  const two = await client.sendMessage(message);
  expect([one.duplicate, two.duplicate]).toEqual([false, true]);
  await client.waitForOutcome({ ...one, timeoutMilliseconds: 120_000 });
  const texts = shown(await client.listEntries({ conversationId }));
  expect(texts.filter((text) => text === 'user: Say twice')).toHaveLength(1);
  await expect(client.sendMessage({ ...message, content: 'Say other' })).rejects.toMatchObject({
    code: 'message_id_reused',
  });
});

test('a row that nobody rang for is found by upkeep', async () => {
  const { conversationId } = await harness.runTask('Say hello');
  const silent = await silentClient();
  const sent = await silent.sendMessage({ conversationId, content: 'Say found', mode: 'queue' });
  await silent.close();
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn.outcome).toBe('completed');
});

test('a stop that is sent while no worker is alive ends the turn when one runs', async () => {
  const sent = await startHolding('later');
  worker.shutdown();
  await worker.ended;
  await harness.client.stop({ conversationId: sent.conversationId });
  worker = await harness.startWorker();
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn.outcome).toBe('stopped');
});

test('a stop aborts a model call that hangs within 2 s, and the provider is asked no more', async () => {
  await harness.fault({ kind: 'hang', times: 1 });
  const before = (await harness.requests()).total;
  const sent = await harness.client.startTask({ task: 'Say hello' });
  await waitUntil('the model is asked', async () => (await harness.requests()).total === before + 1);
  await harness.client.stop({ conversationId: sent.conversationId });
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn.outcome).toBe('stopped');
  // By the rows, from the command to the end of the call: what the test's own process is busy with does not count.
  const [row] = await harness.database<{ seconds: number; estimated: number }[]>`
    select extract(epoch from m.ended_at - q.created_at)::float8 as seconds, m.estimated_tokens as estimated
    from model_calls m join messages q on q.conversation_id = m.conversation_id and q.kind = 'stop'
    where m.conversation_id = ${sent.conversationId} and m.failure_kind = 'aborted'`;
  expect(row?.seconds).toBeLessThan(2);
  expect((await harness.requests()).total).toBe(before + 1);
  // What was sent is charged, whoever ends the answer.
  expect(turn).toMatchObject({ usage: { input: row?.estimated } });
  expect(row?.estimated).toBeGreaterThan(100);
});

test('ringing an idle conversation starts nothing that stays', async () => {
  const { conversationId } = await harness.runTask('Say hello');
  await ringDoorbell(harness.temporal, harness.taskQueue, conversationId);
  const handle = harness.temporal.workflow.getHandle(turnWorkflowId(conversationId));
  await waitUntil('the run completed', async () => (await handle.describe()).status.name === 'COMPLETED');
});

/** A client whose doorbells reach nobody: it rings on a port where no server listens. */
async function silentClient(): Promise<TurnHarness['client']> {
  const { createClient } = await import('../../src/client/create-client.ts');
  return createClient({
    databaseUrl: harness.databaseUrl,
    temporal: { address: '127.0.0.1:1', namespace: 'default' },
    taskQueue: harness.taskQueue,
  });
}
