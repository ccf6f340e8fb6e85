import { expect, inject, onTestFinished, test } from 'vitest';
import { createActivities } from '../../src/activities/create-activities.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { newId } from '../../src/store/database/ids.ts';
import { newestRunOf } from '../../src/temporal/newest-run.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
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

test('a worker that wakes up for a run that was terminated leaves what waits to the next run, also when no turn is open', async () => {
  const conversationId = newId();
  let wake = (): void => undefined;
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let zombie: Promise<unknown> | undefined;
  let asked = 0;
  const real = createActivities({
    ...activityDependencies(store.sql, { simulatorUrl: simulator.url }),
    newestRunOf: (workflowId) => {
      asked += 1;
      return newestRunOf(worker.temporal, workflowId);
    },
  });
  const worker = await startWorkerOfActivities(inject('temporalAddress'), {
    ...real,
    beginTurn: async (input) => {
      if (zombie !== undefined) return real.beginTurn(input);
      const begun = woken.then(() => real.beginTurn(input));
      zombie = begun.catch((error: unknown) => error);
      return begun;
    },
  });
  onTestFinished(() => worker.stop());
  const ring = (): Promise<void> => ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
  const answered = (answer: string): Promise<void> =>
    waitUntil(`the answer "${answer}"`, async () =>
      (await said(store.sql, conversationId)).includes(`assistant ${answer}`),
    );

  await send(store.sql, { conversationId, ...text('Say first') });
  await ring();
  await waitUntil('the first run begins', async () => zombie !== undefined);
  const workflow = worker.temporal.workflow.getHandle(turnWorkflowId(conversationId));
  await workflow.terminate();
  await ring();
  await answered('first');
  await workflow.result();
  await send(store.sql, { conversationId, ...text('Say second') });
  wake();
  expect(await zombie).toMatchObject({ type: 'Store.run_replaced', nonRetryable: true });
  await ring();
  await answered('second');
  expect(await said(store.sql, conversationId)).toEqual([
    'user Say first',
    'assistant first',
    'user Say second',
    'assistant second',
  ]);
  expect(asked).toBe(1);
});
