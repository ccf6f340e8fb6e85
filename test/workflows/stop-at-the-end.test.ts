import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { createActivities } from '../../src/activities/create-activities.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { newId } from '../../src/store/database/ids.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import type { EndTurnInput } from '../../src/turn/activity-values.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { verify } from '../../src/verify/verify.ts';
import { activityDependencies } from '../activities/support/activity-dependencies.ts';
import { openTestStore, said, send, text } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startScriptedTurn } from './support/scripted-turn.ts';
import { beginsWith, startWorkerOfActivities, endedAs } from './support/worker-of-activities.ts';
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

test("Temporal's own cancel during the check behind the last answer ends the turn as completed, and says with it that it came", async () => {
  const input: EndTurnInput[] = [];
  let release = (): void => undefined;
  const isOver = new Promise<void>((resolve) => {
    release = resolve;
  });
  await startScriptedTurn(inject('temporalAddress'), ({ conversationId: own, worker: scripted }) => ({
    ...beginsWith({ checkAfterLastStep: true }),
    compactContext: async ({ turnIsOver }) => {
      if (turnIsOver === true) {
        await scripted().temporal.workflow.getHandle(turnWorkflowId(own)).cancel();
        await isOver;
      }
      return { kind: 'fits', view: { headEntryId: 'head', tokens: 100 } };
    },
    endTurn: async (ended) => {
      input.push(ended);
      release();
      return endedAs(ended);
    },
  }));
  await waitUntil('the turn ends', () => input.length > 0);
  expect(input).toMatchObject([{ outcome: 'completed', cancelled: true }]);
});
