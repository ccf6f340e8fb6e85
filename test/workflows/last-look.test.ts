import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createActivities } from '../../src/activities/create-activities.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { newId } from '../../src/store/database/ids.ts';
import { listWaitingMessages } from '../support/waiting-messages.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { activityDependencies } from '../activities/support/activity-dependencies.ts';
import { openTestStore, said, send, text } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerOfActivities } from './support/worker-of-activities.ts';
import type { WorkerOfActivities } from './support/worker-of-activities.ts';

/** Messages that are sent each in the moment in which a turn has ended and its workflow is about to return. */
const MESSAGES = 8;
const conversationId = newId();
let store: TestStore;
let simulator: Simulator;
let worker: WorkerOfActivities;
let sent = 0;

async function sendAndRing(): Promise<void> {
  sent += 1;
  await send(store.sql, { conversationId, mode: 'queue', ...text(`Say ${sent}`) });
  await ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
}

// Without upkeep: nothing but the doorbell tells of a message.
beforeAll(async () => {
  [store, simulator] = await Promise.all([openTestStore(), startSimulator({ port: 0 })]);
  const activities = createActivities(activityDependencies(store.sql, { simulatorUrl: simulator.url }));
  worker = await startWorkerOfActivities(inject('temporalAddress'), {
    ...activities,
    // What a message does that comes between the end of a turn and the return of its run: the end does not tell of it.
    endTurn: async (input) => {
      const ended = await activities.endTurn(input);
      if (sent < MESSAGES) await sendAndRing();
      return ended;
    },
  });
});

afterAll(async () => {
  await worker.stop();
  await simulator.close();
  await store.close();
});

test('messages that come between the end of a turn and the return of its run begin the next turn each, with nobody but the doorbell to tell', async () => {
  await sendAndRing();
  await waitUntil('all are answered', async () => {
    const texts = await said(store.sql, conversationId);
    return texts.filter((each) => each.startsWith('assistant')).length === MESSAGES;
  });
  expect(await listWaitingMessages(store.sql, conversationId)).toEqual([]);
  const texts = await said(store.sql, conversationId);
  expect(texts.filter((each) => each.startsWith('user'))).toEqual(
    Array.from({ length: MESSAGES }, (_, index) => `user Say ${index + 1}`),
  );
});
