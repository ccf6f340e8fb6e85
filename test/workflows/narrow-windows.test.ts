import { expect, inject, test } from 'vitest';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import type { EndTurnInput } from '../../src/turn/activity-values.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startScriptedTurn, waitUntilSeen } from './support/scripted-turn.ts';
import { ANSWERED, CALLS_A_TOOL, beginsWith, endedAs } from './support/worker-of-activities.ts';

/** Moments of a workflow that last as long as one activity: here the activity ends when the test says so. */

const NOTHING = { waiting: 0, steering: 0, stopRequested: false, compactRequested: false } as const;

test('a decision that a look sees while the turn asks what is open is not waited for', async () => {
  const counts = [1, 0];
  let asked = 0;
  let looked = 0;
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
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
  const ended: EndTurnInput[] = [];
  await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
    // Enough steps for the server to suggest a new run.
    callModel: ({ callNumber }) => Promise.resolve(callNumber < 12 ? CALLS_A_TOOL : ANSWERED),
    endTurn: async (input) => {
      ended.push(input);
      return endedAs(input);
    },
    lookAtInbox: async (input) => {
      if (input.turn === null || isCancelled) return NOTHING;
      isCancelled = true;
      await worker().temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel();
      await waitUntilSeen(worker(), conversationId);
      return NOTHING;
    },
  }));
  await waitUntil('the turn ends', () => ended.length > 0);
  expect(isCancelled).toBe(true);
  expect(ended).toMatchObject([{ outcome: 'stopped', cancelled: true }]);
});

test('a call whose head has moved is made again behind a new check, as often as the head moves', async () => {
  const checked: number[] = [];
  const called: number[] = [];
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
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

test('a message that comes within the check after the last answer is answered, and only the next answer is checked again', async () => {
  const checked: string[] = [];
  const called: number[] = [];
  let isWaiting = false;
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
    ...beginsWith({ checkAfterLastStep: true }),
    lookAtInbox: () => Promise.resolve({ ...NOTHING, steering: isWaiting ? 1 : 0 }),
    takeMessages: () => {
      isWaiting = false;
      return Promise.resolve();
    },
    compactContext: async ({ callNumber, turnIsOver }) => {
      checked.push(turnIsOver === true ? `${callNumber} after the answer` : String(callNumber));
      if (callNumber === 2) {
        isWaiting = true;
        await worker().temporal.workflow.getHandle(turnWorkflowId(conversationId)).executeUpdate('acknowledge');
      }
      return { kind: 'fits', view: { headEntryId: 'head', tokens: 1 } };
    },
    callModel: ({ callNumber }) => {
      called.push(callNumber);
      return Promise.resolve(ANSWERED);
    },
  }));
  await waitUntil('the turn ends', () => turn.outcomes.length > 0);
  expect(turn.outcomes).toEqual(['completed']);
  expect(checked).toEqual(['1', '2 after the answer', '3', '4 after the answer']);
  expect(called).toEqual([1, 3]);
});

test('a turn that waits for people while messages come goes on in new runs, at the same answer', async () => {
  let waiting = 1;
  const called: number[] = [];
  const ran: number[] = [];
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    callModel: ({ callNumber }) => {
      called.push(callNumber);
      return Promise.resolve(callNumber === 1 ? { ...CALLS_A_TOOL, asks: true as const } : ANSWERED);
    },
    lookAtInbox: () => Promise.resolve({ ...NOTHING, decisionsWaiting: waiting }),
    requestDecisions: () => Promise.resolve({ waiting, questions: 0, expiresInMilliseconds: 86_400_000 }),
    runTool: ({ callNumber }) => {
      ran.push(callNumber);
      return Promise.resolve({ state: 'succeeded', fingerprint: String(callNumber) });
    },
  }));
  const handle = turn.temporal.workflow.getHandle(turnWorkflowId(turn.conversationId));
  await waitUntil('people are asked', async () => {
    const { searchAttributes } = await handle.describe();
    return searchAttributes['HoldfastTurnState']?.[0] === 'waiting_for_approval';
  });
  for (let message = 0; message < 12; message += 1) await handle.executeUpdate('acknowledge');
  expect(await turn.runs()).toBeGreaterThan(2);
  expect(ran).toEqual([]);
  waiting = 0;
  await handle.executeUpdate('acknowledge');
  await waitUntil('the turn ends', () => turn.outcomes.length > 0, 30_000);
  expect(turn.outcomes).toEqual(['completed']);
  // The answer is asked for by each run, which finds it stored; it is one step, and its call runs once.
  expect(new Set(called)).toEqual(new Set([1, 2]));
  expect(ran).toEqual([1]);
});

test('an acknowledged ring that comes while a turn looks for the last time is answered, and the turn ends', async () => {
  let ringing: Promise<unknown> | undefined;
  let looks = 0;
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
    lookAtInbox: async (input) => {
      if (input.turn !== null) return NOTHING;
      looks += 1;
      if (ringing !== undefined) return NOTHING;
      const handle = worker().temporal.workflow.getHandle(turnWorkflowId(conversationId));
      ringing = handle.executeUpdate('acknowledge');
      await waitUntil('the workflow has taken the ring', async () => {
        const { events } = await handle.fetchHistory();
        return events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null) === true;
      });
      return NOTHING;
    },
  }));
  await waitUntil('the turn ends', () => turn.outcomes.length > 0);
  const handle = turn.temporal.workflow.getHandle(turnWorkflowId(turn.conversationId));
  await waitUntil('its workflow ends', async () => (await handle.describe()).status.name === 'COMPLETED');
  await ringing;
  expect(looks).toBe(2);
});
