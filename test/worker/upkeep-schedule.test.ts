import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { connectClient } from '../../src/temporal/connect.ts';
import { keepUpkeepSchedule, upkeepScheduleId } from '../../src/worker/upkeep-schedule.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { waitUntil } from '../support/wait-until.ts';

const logger = pino({ level: 'silent' });
let temporal: Client;

beforeAll(async () => {
  temporal = await connectClient({ address: inject('temporalAddress'), namespace: 'default' });
});

afterAll(() => temporal.connection.close());

/** A task queue of its own, and what a worker does for its schedule. */
function newSchedule() {
  const taskQueue = `queue-${randomUUID()}`;
  const handle = temporal.schedule.getHandle(upkeepScheduleId(taskQueue));
  onTestFinished(() => handle.delete());
  const keep = async (client = temporal): Promise<void> =>
    onTestFinished(await keepUpkeepSchedule({ client, taskQueue, logger, checkMilliseconds: 50 }));
  const isThere = async (): Promise<boolean> =>
    handle.describe().then(
      () => true,
      () => false,
    );
  return { taskQueue, handle, keep, isThere };
}

test('each task queue has upkeep of its own, and what an operator set stays', async () => {
  const { taskQueue, handle, keep } = newSchedule();
  await keep();
  await handle.pause('for the night');
  await keep();
  const { action, state } = await handle.describe();
  expect(action).toMatchObject({ workflowType: 'upkeep', taskQueue });
  expect(state).toMatchObject({ paused: true, note: 'for the night' });
});

test('a schedule that Temporal lost is made again', async () => {
  const { handle, keep, isThere } = newSchedule();
  await keep();
  await handle.delete();
  await waitUntil('it is there again', isThere);
});

test('a worker starts also while Temporal is away; a namespace that is missing fails its start', async () => {
  const { keep, isThere } = newSchedule();
  const proxy = await startTcpProxy(inject('temporalAddress'));
  onTestFinished(() => proxy.close());
  const client = await connectClient({ address: proxy.address, namespace: 'default' });
  onTestFinished(() => client.connection.close());
  await proxy.refuse();
  await keep(client);
  expect(await isThere()).toBe(false);
  await proxy.mend();
  await waitUntil('it is there', isThere);
  const elsewhere = await connectClient({ address: inject('temporalAddress'), namespace: `missing-${randomUUID()}` });
  onTestFinished(() => elsewhere.connection.close());
  await expect(keep(elsewhere)).rejects.toThrow();
});
