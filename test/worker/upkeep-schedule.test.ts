import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { readDatabaseId } from '../../src/store/database-id.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { keepUpkeepSchedule, upkeepScheduleId } from '../../src/worker/upkeep-schedule.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const logger = pino({ level: 'silent' });
let temporal: Client;

beforeAll(async () => {
  temporal = await connectClient({ address: inject('temporalAddress'), namespace: 'default' });
});

afterAll(() => temporal.connection.close());

/** The schedule of a database of its own, two queues, and what a worker does for the schedule when it starts and later. */
function newSchedule() {
  const databaseId = randomUUID();
  const handle = temporal.schedule.getHandle(upkeepScheduleId(databaseId));
  onTestFinished(() => handle.delete());
  const queue = async (): Promise<string> => (await handle.describe()).action.taskQueue;
  const keep = async (taskQueue: string, client = temporal): Promise<() => void> => {
    const stop = await keepUpkeepSchedule({ client, databaseId, taskQueue, logger, checkMilliseconds: 50 });
    onTestFinished(stop);
    return stop;
  };
  return { handle, queue, keep, oldQueue: `old-${databaseId}`, newQueue: `new-${databaseId}` };
}

/** Asks for work of a queue, as a worker does, until the test ends. */
async function serve(taskQueue: string): Promise<void> {
  const client = await connectClient({ address: inject('temporalAddress'), namespace: 'default' });
  const { connection, workflowService } = client;
  const asked = { namespace: 'default', taskQueue: { name: taskQueue } };
  const stop = new AbortController();
  // Without a deadline the server refuses to wait.
  const poll = async (): Promise<unknown> =>
    connection.withDeadline(Date.now() + 180_000, async () =>
      workflowService.pollWorkflowTaskQueue({ ...asked, identity: taskQueue }),
    );
  const polling = connection.withAbortSignal(stop.signal, poll).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  onTestFinished(async () => {
    stop.abort();
    await polling;
    await connection.close();
  });
  const served = async (): Promise<boolean> =>
    (await temporal.workflowService.describeTaskQueue({ ...asked, taskQueueType: 1 })).pollers.length > 0;
  await waitUntil('the queue is served', served, 30_000);
}

/** A client that counts how often it asks who serves a queue. */
function countingClient(): { readonly client: Client; readonly looks: () => number } {
  let looks = 0;
  const workflowService = new Proxy(temporal.workflowService, {
    get(service, name) {
      if (name === 'describeTaskQueue') looks += 1;
      return Reflect.get(service, name) as unknown;
    },
  });
  return {
    client: Object.create(temporal, { workflowService: { value: workflowService } }) as Client,
    looks: () => looks,
  };
}

test('upkeep runs on the queue of the worker that started last, and what an operator set stays', async () => {
  const { handle, queue, keep, oldQueue, newQueue } = newSchedule();
  const stopOld = await keep(oldQueue);
  stopOld();
  expect(await queue()).toBe(oldQueue);
  await handle.pause('for the night');
  const before = await handle.describe();
  await keep(newQueue);
  const { action, spec, policies, state } = await handle.describe();
  expect(action).toEqual({ ...before.action, taskQueue: newQueue });
  expect({ spec, policies, state }).toEqual({ spec: before.spec, policies: before.policies, state: before.state });
  expect(state).toMatchObject({ paused: true, note: 'for the night' });
});

test('workers of two queues do not take upkeep from each other, until one of the other queue starts anew', async () => {
  const { queue, keep, oldQueue, newQueue } = newSchedule();
  await Promise.all([serve(oldQueue), serve(newQueue)]);
  const [older, newer] = [countingClient(), countingClient()];
  await keep(oldQueue, older.client);
  const stopNewer = await keep(newQueue, newer.client);
  await waitUntil('the older one has looked again and again', () => older.looks() > 5);
  expect(await queue()).toBe(newQueue);
  stopNewer();
  await keep(newQueue, newer.client);
  await keep(oldQueue);
  await waitUntil('the newer one has looked again and again', () => newer.looks() > 5);
  expect(await queue()).toBe(oldQueue);
});

test('upkeep is taken from a queue that nobody serves any more by a worker that runs', async () => {
  const { queue, keep, oldQueue, newQueue } = newSchedule();
  await keep(newQueue);
  const gone = await keep(oldQueue);
  gone();
  await waitUntil('the other worker has it', async () => (await queue()) === newQueue);
});

test('a worker starts also while Temporal is away, and takes upkeep later; a namespace that is missing fails its start', async () => {
  const { queue, keep, oldQueue, newQueue } = newSchedule();
  const stopOld = await keep(oldQueue);
  stopOld();
  await serve(oldQueue);
  const proxy = await startTcpProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  const client = await connectClient({ address: proxy.address, namespace: 'default' });
  onTestFinished(() => client.connection.close());
  await proxy.refuse();
  const stop = await keep(newQueue, client);
  expect(await queue()).toBe(oldQueue);
  await proxy.mend();
  await waitUntil('the new worker has it', async () => (await queue()) === newQueue);
  stop();
  const elsewhere = await connectClient({ address: inject('temporalAddress'), namespace: `missing-${randomUUID()}` });
  onTestFinished(() => elsewhere.connection.close());
  await expect(keep(newQueue, elsewhere)).rejects.toThrow();
});

test('a worker whose queue is another than that of the workers before takes upkeep', async () => {
  const harness = await startTurnHarness();
  const databaseId = await readDatabaseId(harness.database);
  const schedule = { client: harness.temporal, databaseId, taskQueue: `gone-${databaseId}`, logger };
  const gone = await keepUpkeepSchedule(schedule);
  gone();
  await harness.startWorker();
  const { action } = await harness.temporal.schedule.getHandle(upkeepScheduleId(databaseId)).describe();
  expect(action.taskQueue).toBe(harness.taskQueue);
  await harness.stop();
});
