import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Activities } from '../../src/activities/create-activities.ts';
import { newId } from '../../src/store/ids.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { turnWorkflowId } from '../../src/temporal/names.ts';
import { startTestTemporal } from '../support/servers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ANSWERED, CALLS_A_TOOL, scriptedActivities, startWorkerOfActivities } from './support/worker-of-activities.ts';
import type { WorkerOfActivities } from './support/worker-of-activities.ts';

/** Moments of a workflow that last as long as one activity: here the activity ends when the test says so. */
let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  server = await startTestTemporal({ suggestContinueAsNewEvents: 50 });
});
afterAll(() => server.stop());

const NOTHING = { waiting: 0, steering: 0, stopRequested: false, compactRequested: false } as const;

interface Started extends WorkerOfActivities {
  readonly conversationId: string;
  readonly outcomes: readonly string[];
}

/** Starts a turn with these activities; gives the outcomes that it ends with. */
async function start(
  scripted: (turn: { conversationId: string; worker: () => WorkerOfActivities }) => Partial<Activities>,
) {
  const conversationId = newId();
  const outcomes: string[] = [];
  let worker: WorkerOfActivities | undefined;
  const started = (): WorkerOfActivities => {
    if (worker === undefined) throw new Error('the worker is not started');
    return worker;
  };
  worker = await startWorkerOfActivities(
    server.address,
    scriptedActivities({
      endTurn: ({ outcome }) => {
        outcomes.push(outcome);
        return Promise.resolve();
      },
      ...scripted({ conversationId, worker: started }),
    }),
  );
  onTestFinished(() => started().stop());
  await ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
  return { ...worker, conversationId, outcomes } satisfies Started;
}

/** Waits until the workflow has seen all that happened to it so far, activities that run left out. */
async function waitUntilSeen({ temporal }: WorkerOfActivities, conversationId: string): Promise<void> {
  await waitUntil('the workflow has seen it', async () => {
    const { raw } = await temporal.workflow.getHandle(turnWorkflowId(conversationId)).describe();
    return raw.pendingWorkflowTask == null;
  });
}

test('a decision that a look sees while the turn asks what is open is not waited for', async () => {
  const counts = [1, 0];
  let asked = 0;
  let looked = 0;
  const turn = await start(({ conversationId, worker }) => ({
    callModel: ({ callNumber }) =>
      Promise.resolve(callNumber === 1 ? { ...CALLS_A_TOOL, asks: true as const } : ANSWERED),
    lookAtInbox: () => {
      looked += 1;
      return Promise.resolve(NOTHING);
    },
    requestDecisions: async () => {
      const waiting = counts[asked] ?? 0;
      asked += 1;
      if (waiting > 0) {
        // Read, but not yet told: now somebody decides and rings, and the look that follows sees that nothing waits any more.
        const before = looked;
        await ringDoorbell(worker().temporal, worker().taskQueue, conversationId);
        await waitUntil('the inbox was looked at', () => looked > before);
        await waitUntilSeen(worker(), conversationId);
      }
      return { waiting, questions: 0, expiresInMilliseconds: 86_400_000 };
    },
  }));
  await waitUntil('the turn ends', () => turn.outcomes.length > 0, 30_000);
  expect(turn.outcomes).toEqual(['completed']);
  expect(asked).toBe(2);
});

test("Temporal's cancel that comes while a turn moves to a new run stops it there", async () => {
  let isCancelled = false;
  const turn = await start(({ conversationId, worker }) => ({
    // Enough steps for the server to suggest a new run.
    callModel: ({ callNumber }) => Promise.resolve(callNumber < 12 ? CALLS_A_TOOL : ANSWERED),
    lookAtInbox: async (input) => {
      if (input.turn === null || isCancelled) return NOTHING;
      isCancelled = true;
      await worker().temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel();
      await waitUntilSeen(worker(), conversationId);
      return NOTHING;
    },
  }));
  await waitUntil('the turn ends', () => turn.outcomes.length > 0);
  expect(isCancelled).toBe(true);
  expect(turn.outcomes).toEqual(['stopped']);
});

test('a call whose head has moved is made again behind a new check, as often as the head moves', async () => {
  const checked: number[] = [];
  const called: number[] = [];
  const turn = await start(() => ({
    compactContext: ({ callNumber }) => {
      checked.push(callNumber);
      return Promise.resolve({ kind: 'fits', view: { headEntryId: `head ${callNumber}`, tokens: 1 } });
    },
    callModel: ({ callNumber, headEntryId }) => {
      called.push(callNumber);
      expect(headEntryId).toBe(`head ${callNumber}`);
      return Promise.resolve(callNumber < 3 ? { kind: 'moved' } : ANSWERED);
    },
  }));
  await waitUntil('the turn ends', () => turn.outcomes.length > 0);
  expect(turn.outcomes).toEqual(['completed']);
  expect(checked).toEqual([1, 2, 3]);
  expect(called).toEqual([1, 2, 3]);
});
