import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ListedEntry } from '../../src/client/types.ts';
import { textOf } from '../../src/context/log/content.ts';
import { isWorkflowOpen } from '../../src/temporal/newest-run.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { said } from '../store/support/store-builders.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createHeldCalls } from './support/held-calls.ts';

const { tool: hold, held, start } = createHeldCalls();
const startHolding = (name: string) => start(harness, name);

let worker: RunningWorker;
const harness = useTurnHarness({ tools: [hold], agent: { tools: ['hold', 'list_files'] } });

beforeAll(async () => {
  worker = await harness.startWorker();
});

const shown = (entries: readonly ListedEntry[]): string[] =>
  entries.map((entry) => `${entry.kind}: ${textOf(entry.content)}`);

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
  'a %s by Temporal itself aborts the running tool and closes the request of a model: the turn is %s, and the conversation goes on',
  async (end, outcome) => {
    const { client } = harness;
    const closed = watchClosedRequests();
    await harness.fault({ kind: 'hang', times: 1, match: { containing: `Say ${end}` } });
    const acting = await startHolding(end);
    const before = (await harness.asked()).total;
    const asking = await client.start(`Say ${end}`);
    await waitUntil('the model is asked', async () => (await harness.asked()).total === before + 1);
    expect([held.get(end)?.abortedAt(), closed]).toEqual([null, []]);
    for (const { conversationId } of [acting, asking])
      await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId))[end]();
    // Before anything else is sent: nobody but Temporal tells the worker.
    await waitUntil('both are aborted', () => held.get(end)?.abortedAt() !== null && closed.length === 1);
    for (const sent of [acting, asking]) {
      const next = await harness.runTask('Say on', { conversationId: sent.conversationId });
      expect(next.outcome).toBe('completed');
      expect((await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 })).outcome).toBe(outcome);
    }
    const entries = shown((await client.log.entries({ conversationId: acting.conversationId })).items);
    expect(entries.find((text) => text.startsWith('tool_result'))).toContain('Outcome unknown');
  },
);

test("a steering message that was sent before Temporal's own cancel is not answered until the user says something else", async () => {
  const { client, temporal } = harness;
  const sent = await startHolding('before the cancel');
  const { conversationId } = sent;
  const steered = await client.conversation.send({ conversationId, content: 'Say steered', mode: 'steer' });
  await temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel();
  const taken = await client.conversation.outcome({ ...steered, timeoutMilliseconds: 240_000 });
  const stopped = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(taken).toMatchObject({ turnId: stopped.turnId, outcome: 'stopped' });
  const next = await harness.runTask('Say on', { conversationId });
  expect(next.outcome).toBe('completed');
  const texts = shown((await client.log.entries({ conversationId })).items);
  expect(texts.slice(-3)).toEqual(['user: Say steered', 'user: Say on', 'assistant: on']);
});

test('a turn that an operator pauses in Temporal is no lost one: it goes on when he lets it', async () => {
  const { client, temporal, database, taskQueue } = harness;
  const sent = await startHolding('paused');
  const { conversationId } = sent;
  const workflowId = turnWorkflowId(conversationId);
  const request = { namespace: 'default', workflowId, identity: taskQueue, reason: 'test', requestId: randomUUID() };
  await temporal.workflowService.pauseWorkflowExecution(request);
  await database`update turns set begun_at = begun_at - interval '1 minute' where conversation_id = ${conversationId}`;
  expect(await isWorkflowOpen(temporal, workflowId)).toBe(true);
  await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({ code: 'conversation_busy' });
  await expectAllHolds(harness);
  held.get('paused')?.release();
  await temporal.workflowService.unpauseWorkflowExecution({ ...request, requestId: randomUUID() });
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn.outcome).toBe('completed');
});

test('after a terminate a fork is refused once, and accepted when that has had the dead turn ended', async () => {
  const { client, temporal } = harness;
  const { conversationId } = await startHolding('forked');
  await temporal.workflow.getHandle(turnWorkflowId(conversationId)).terminate('test');
  const fork = { conversationId, entryId: null, summarize: false };
  await expect(client.branches.fork(fork)).rejects.toMatchObject({ code: 'conversation_busy' });
  await waitUntil(
    'the dead turn is ended',
    async () => (await client.conversation.get({ conversationId })).turn?.outcome === 'interrupted',
  );
  const forked = await client.conversation.outcome({
    ...(await client.branches.fork(fork)),
    timeoutMilliseconds: 240_000,
  });
  expect(forked.outcome).toBe('completed');
});

/** What `work` does while no worker runs. */
async function withoutWorker<Result>(work: () => Promise<Result>): Promise<Result> {
  worker.shutdown();
  await worker.ended;
  const result = await work();
  worker = await harness.startWorker();
  return result;
}

test("what was sent before Temporal's own cancel, while no worker is alive, is stopped with its turn when one runs", async () => {
  const { client, database, temporal } = harness;
  const sent = await startHolding('unserved');
  const { conversationId } = sent;
  const before = await withoutWorker(async () => {
    const steered = await client.conversation.send({ conversationId, content: 'Say before', mode: 'steer' });
    await temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel();
    return steered;
  });
  for (const message of [sent, before])
    expect(await client.conversation.outcome({ ...message, timeoutMilliseconds: 240_000 })).toMatchObject({
      outcome: 'stopped',
    });
  expect((await said(database, conversationId)).at(-1)).toBe('user Say before');
});

test("what was sent before Temporal's own cancel of a turn that had not begun is not answered until the user says something else", async () => {
  const { client, database, temporal } = harness;
  const sent = await withoutWorker(async () => {
    const unserved = await client.start('Say first');
    const handle = temporal.workflow.getHandle(turnWorkflowId(unserved.conversationId));
    await waitUntil('its workflow is started', async () => (await handle.describe().catch(() => null)) !== null);
    await handle.cancel();
    return unserved;
  });
  const { conversationId } = sent;
  expect(await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 })).toMatchObject({
    outcome: 'stopped',
  });
  await harness.runTask('Say on', { conversationId });
  expect(await said(database, conversationId)).toEqual(['user Say first', 'user Say on', 'assistant on']);
  await expectAllHolds(harness);
});
