import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { createActivities } from '../../src/activities/create-activities.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { newId } from '../../src/store/database/ids.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { verify } from '../../src/verify/verify.ts';
import { activityDependencies } from '../activities/support/activity-dependencies.ts';
import { openTestStore, said, send, text } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerOfActivities } from './support/worker-of-activities.ts';
import type { WorkerOfActivities } from './support/worker-of-activities.ts';

let store: TestStore;
let simulator: Simulator;
let worker: WorkerOfActivities;
let conversationId: string;
/** What the user does as the first turn is to end, and when it has ended and its run has not. */
let meanwhile: { asItEnds?: () => Promise<void>; afterItsEnd?: () => Promise<void> };

beforeEach(() => {
  conversationId = newId();
  meanwhile = {};
});

/** What is to be done, for the first who asks about this conversation. */
async function once(moment: keyof typeof meanwhile, asked: string): Promise<void> {
  if (asked !== conversationId) return;
  const act = meanwhile[moment];
  delete meanwhile[moment];
  await act?.();
}

// Without upkeep: nothing but the doorbell tells of a message.
beforeAll(async () => {
  [store, simulator] = await Promise.all([openTestStore(), startSimulator({ port: 0 })]);
  const activities = createActivities(activityDependencies(store.sql, { simulatorUrl: simulator.url }));
  worker = await startWorkerOfActivities(inject('temporalAddress'), {
    ...activities,
    endTurn: async (input) => {
      await once('asItEnds', input.turn.conversationId);
      const ended = await activities.endTurn(input);
      if (ended.kind === 'ended') await once('afterItsEnd', input.turn.conversationId);
      return ended;
    },
  });
});

afterAll(async () => {
  await worker.stop();
  await simulator.close();
  await store.close();
});

const ring = (): Promise<void> => ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
const handle = () => worker.temporal.workflow.getHandle(turnWorkflowId(conversationId));

async function stop(): Promise<void> {
  await send(store.sql, { conversationId, kind: 'stop' });
  await ring();
}

async function cancel(): Promise<void> {
  await handle().cancel();
}

/** A turn that answers, at whose end the user steers and then ends it. */
async function steerAndEnd(moment: keyof typeof meanwhile, end: () => Promise<void>): Promise<void> {
  meanwhile[moment] = async () => {
    await send(store.sql, { conversationId, ...text('Say more') });
    await ring();
    await end();
  };
  await send(store.sql, { conversationId, mode: 'queue', ...text('Say first') });
  await ring();
  await waitUntil('no run is open', async () => (await handle().describe()).status.name === 'COMPLETED');
  expect(meanwhile).toEqual({});
}

async function outcomes(): Promise<string[]> {
  const rows = await store.sql<{ outcome: string }[]>`
    select outcome from turns where conversation_id = ${conversationId} order by epoch`;
  return rows.map(({ outcome }) => outcome);
}

test.each([
  ['a stop', 'as its turn ends', stop, 'asItEnds', ['stopped']],
  ['a stop', 'when its turn has ended', stop, 'afterItsEnd', ['completed', 'stopped']],
  ["Temporal's own cancel", 'as its turn ends', cancel, 'asItEnds', ['stopped']],
  ["Temporal's own cancel", 'when its turn has ended', cancel, 'afterItsEnd', ['completed', 'stopped']],
] as const)(
  'a steering message before %s that comes %s is not answered until the next message',
  async (_end, _when, end, moment, expected) => {
    await steerAndEnd(moment, end);
    expect(await outcomes()).toEqual(expected);
    expect(await said(store.sql, conversationId)).toEqual(['user Say first', 'assistant first', 'user Say more']);
    await send(store.sql, { conversationId, ...text('Say next') });
    await ring();
    await waitUntil('it is answered', async () => (await said(store.sql, conversationId)).at(-1) === 'assistant next');
    expect((await verify(store.sql, { conversationId })).invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  },
);

test('messages that come between the end of a turn and the return of its run begin the next turn each, with nobody but the doorbell to tell', async () => {
  let sent = 0;
  const sendNext = async (): Promise<void> => {
    sent += 1;
    if (sent < 8) meanwhile.afterItsEnd = sendNext;
    await send(store.sql, { conversationId, mode: 'queue', ...text(`Say ${sent}`) });
    await ring();
  };
  await sendNext();
  await waitUntil('all are answered', async () => (await said(store.sql, conversationId)).length === 16);
  expect(await said(store.sql, conversationId)).toEqual(
    Array.from({ length: 8 }, (_, index) => [`user Say ${index + 1}`, `assistant ${index + 1}`]).flat(),
  );
});
