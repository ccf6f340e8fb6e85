import { expect, inject, onTestFinished, test } from 'vitest';
import type { Activities } from '../../src/activities/create-activities.ts';
import type { InboxLook } from '../../src/turn/activity-values.ts';
import { newId } from '../../src/store/database/ids.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { carryOver, startProgress } from '../../src/turn/carry-over.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  ANSWERED,
  beginsWith,
  scriptedActivities,
  startWorkerOfActivities,
  endedAs,
} from './support/worker-of-activities.ts';

const NOTHING = { waiting: 0, steering: 0, stopRequested: false, compactRequested: false };
const VIEW = { headEntryId: 'head', tokens: 100 };

/** Something that happens once, and can be waited for. */
function moment() {
  let pass = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { pass, passed };
}

/** Looks of the turn by their number, from 1; the last look of its run sees nothing. */
function numberedLooks(see: (look: number) => Promise<InboxLook> | InboxLook) {
  let seen = 0;
  const lookAtInbox: Activities['lookAtInbox'] = async ({ turn }) => {
    if (turn === null) return NOTHING;
    seen += 1;
    return see(seen);
  };
  return { lookAtInbox, count: () => seen };
}

/** Runs a turn of these activities, which ring for themselves, and tells with what it ended. */
async function runTurn(scripted: (ring: () => Promise<void>) => Partial<Activities>): Promise<string> {
  const conversationId = newId();
  let outcome = '';
  const ring = (): Promise<void> => ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
  const worker = await startWorkerOfActivities(
    inject('temporalAddress'),
    scriptedActivities({
      ...scripted(ring),
      endTurn: async (end) => {
        ({ outcome } = end);
        return endedAs(end);
      },
    }),
  );
  onTestFinished(() => worker.stop());
  await ring();
  await waitUntil('the turn ends', async () => outcome !== '');
  return outcome;
}

test('a look that read the inbox before a message was taken, and says so after it, buys no answer to nothing', async () => {
  const [looked, late, taken] = [moment(), moment(), moment()];
  let calls = 0;
  const looks = numberedLooks(async (look) => {
    // The second one read what the first one did, and is slow to tell; what is there after it, the third one tells.
    if (look > 2) return NOTHING;
    if (look === 1) looked.pass();
    else {
      late.pass();
      await taken.passed;
    }
    return { ...NOTHING, steering: 1 };
  });
  const outcome = await runTurn((ring) => ({
    lookAtInbox: looks.lookAtInbox,
    takeMessages: async () => taken.pass(),
    callModel: async () => {
      calls += 1;
      if (calls > 1) return waitFor(() => looks.count() > 2, ANSWERED);
      await ring();
      await looked.passed;
      await ring();
      await late.passed;
      return ANSWERED;
    },
  }));
  expect(outcome).toBe('completed');
  expect(calls).toBe(2);
});

test('a look that read a wish to compact before it was met, and says so after it, compacts no second time', async () => {
  const [late, met] = [moment(), moment()];
  const forced: (string | null)[] = [];
  const looks = numberedLooks(async (look) => {
    if (look > 1) return NOTHING;
    late.pass();
    await met.passed;
    return { ...NOTHING, compactRequested: true };
  });
  await runTurn((ring) => ({
    lookAtInbox: looks.lookAtInbox,
    compactContext: async (input) => {
      forced.push(input.forced);
      return forced.length > 1 ? { kind: 'fits', view: VIEW } : { kind: 'planned', planned: PLANNED };
    },
    commitCompaction: async () => {
      await ring();
      await late.passed;
      met.pass();
      return { kind: 'committed', view: VIEW, tokensBefore: 1_000 };
    },
    callModel: async () =>
      forced.length > 1 ? ANSWERED : waitFor(() => looks.count() > 1, { ...ANSWERED, unfinished: 'answer_cut' }),
  }));
  expect(forced).toEqual([null, null]);
});

test('a wish to compact that comes while the context is checked is met by the next check', async () => {
  const forced: (string | null)[] = [];
  const looks = numberedLooks(() => ({ ...NOTHING, compactRequested: true }));
  await runTurn((ring) => ({
    lookAtInbox: looks.lookAtInbox,
    compactContext: async (input) => {
      forced.push(input.forced);
      if (forced.length === 1) {
        await ring();
        await waitUntil('the wish is seen', async () => looks.count() > 0);
      }
      return { kind: 'fits', view: VIEW };
    },
    callModel: async () => (forced.length > 1 ? ANSWERED : { ...ANSWERED, unfinished: 'answer_cut' }),
  }));
  expect(forced).toEqual([null, 'manual']);
});

test('a ring that reaches a turn before the first task of its next run is looked at', async () => {
  const conversationId = newId();
  const begun = await beginsWith({}).beginTurn({ conversationId });
  if (begun.kind !== 'begun') throw new Error('nothing begins');
  const looks = numberedLooks(() => ({ ...NOTHING, stopRequested: true }));
  let outcome = '';
  const worker = await startWorkerOfActivities(
    inject('temporalAddress'),
    scriptedActivities({
      lookAtInbox: looks.lookAtInbox,
      callModel: () => waitFor(() => looks.count() > 0, { ...ANSWERED, unfinished: 'answer_cut' }),
      endTurn: async (end) => {
        ({ outcome } = end);
        return endedAs(end);
      },
    }),
  );
  onTestFinished(() => worker.stop());
  await worker.temporal.workflow.signalWithStart('agentTurn', {
    workflowId: turnWorkflowId(conversationId),
    taskQueue: worker.taskQueue,
    args: [{ conversationId, carryOver: carryOver(startProgress(begun)) }],
    signal: 'doorbell',
    signalArgs: [],
  });
  await waitUntil('the turn ends', async () => outcome !== '');
  expect(outcome).toBe('stopped');
});

/** A compaction of nothing but its commit. */
const PLANNED = { compactionId: newId(), waves: [], tokensBefore: 1_000 };

async function waitFor<Result>(condition: () => boolean, result: Result): Promise<Result> {
  await waitUntil('the inbox is looked at again', async () => condition());
  return result;
}
