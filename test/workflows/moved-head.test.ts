import { expect, inject, onTestFinished, test } from 'vitest';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { Activities } from '../../src/activities/create-activities.ts';
import type { ActivityDependencies } from '../../src/activities/runtime/dependencies.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { newId } from '../../src/store/database/ids.ts';
import { takeMessages } from '../../src/store/messages/take-messages.ts';
import { listModelCalls } from '../support/model-calls.ts';
import { readLastTurn } from '../../src/store/turns/turns.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { activityDependencies } from '../activities/support/activity-dependencies.ts';
import { useStoreAndSimulator } from '../activities/support/store-and-simulator.ts';
import { said, send, text } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerOfActivities } from './support/worker-of-activities.ts';

let store: TestStore;
let simulator: Simulator;

useStoreAndSimulator((opened) => {
  ({ store, simulator } = opened);
});

async function run(
  conversationId: string,
  dependencies: Partial<ActivityDependencies>,
  wrapped: (activities: Activities) => Partial<Activities>,
): Promise<void> {
  const real = createActivities({
    ...activityDependencies(store.sql, { simulatorUrl: simulator.url }),
    ...dependencies,
  });
  const worker = await startWorkerOfActivities(inject('temporalAddress'), { ...real, ...wrapped(real) });
  onTestFinished(() => worker.stop());
  await send(store.sql, { conversationId, ...text('Say first') });
  await ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
  await waitUntil(
    'the turn ends',
    async () => (await readLastTurn(store.sql, conversationId))?.outcome === 'completed',
  );
}

test('a message that comes in between the check and the call is seen by the call: the context is checked again', async () => {
  const conversationId = newId();
  await run(conversationId, {}, (real) => ({
    callModel: async (input) => {
      if (input.callNumber === 1) {
        await send(store.sql, { conversationId, ...text('Say late') });
        // As a worker of an older version takes it, which names no call.
        await takeMessages(store.sql, input.turn);
      }
      return real.callModel(input);
    },
  }));
  expect(await said(store.sql, conversationId)).toEqual(['user Say first', 'user Say late', 'assistant late']);
  const calls = await listModelCalls(store.sql, { conversationId });
  expect(calls.map(({ callNumber, attempt, state }) => [callNumber, attempt, state])).toEqual([[2, 1, 'answered']]);
});

test('a worker that wakes up while the model is asked takes no message into the turn, and the answer is kept', async () => {
  const conversationId = newId();
  await fetch(`${simulator.url}/control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'delay', milliseconds: 1_500, times: 1 }),
  });
  let zombie: Promise<unknown> | undefined;
  const wake = async (): Promise<unknown> => {
    await send(store.sql, { conversationId, ...text('Say late') });
    const turn = await readLastTurn(store.sql, conversationId);
    if (turn === null) throw new Error('no turn');
    return takeMessages(store.sql, turn.turn, { callNumber: 1, runId: turn.runId }).catch((error: unknown) => error);
  };
  await run(
    conversationId,
    {
      reachCrashPoint: (point) => {
        if (point === 'callModel:registered') zombie ??= wake();
      },
    },
    () => ({}),
  );
  expect(await zombie).toMatchObject({ code: 'call_registered', permanent: true });
  const calls = await listModelCalls(store.sql, { conversationId });
  expect(calls[0]).toMatchObject({ callNumber: 1, attempt: 1, state: 'answered' });
  expect((await said(store.sql, conversationId)).slice(0, 2)).toEqual(['user Say first', 'assistant first']);
});
