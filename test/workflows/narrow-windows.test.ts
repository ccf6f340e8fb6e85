import { expect, inject, test } from 'vitest';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import type { EndTurnInput } from '../../src/turn/activity-values.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startScriptedTurn, waitUntilSeen } from './support/scripted-turn.ts';
import { ANSWERED, CALLS_A_TOOL, SETTINGS, beginsWith, endedAs } from './support/worker-of-activities.ts';

/** Moments of a workflow that last as long as one activity: here the activity ends when the test says so. */

test('a decision that is rung for while the turn asks what is open is not waited for', async () => {
  const counts = [1, 0];
  let asked = 0;
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
    callModel: ({ callNumber }) =>
      Promise.resolve(callNumber === 1 ? { ...CALLS_A_TOOL, asks: true as const } : ANSWERED),
    requestDecisions: async () => {
      const waiting = counts[asked] ?? 0;
      asked += 1;
      if (waiting > 0) {
        // Read, but not yet told: now somebody decides and rings.
        await ringDoorbell(worker().temporal, worker().taskQueue, conversationId);
        await waitUntilSeen(worker(), conversationId);
      }
      return { waiting, questions: 0, expiresInMilliseconds: 86_400_000 };
    },
  }));
  await waitUntil('the turn ends', () => turn.outcomes.length > 0, 30_000);
  expect(turn.outcomes).toEqual(['completed']);
  expect(asked).toBe(2);
});

test("Temporal's cancel that comes as a turn is about to move to a new run stops it", async () => {
  const ended: EndTurnInput[] = [];
  await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
    // Far more steps than fit into a run.
    callModel: () => Promise.resolve(CALLS_A_TOOL),
    runTool: async ({ callNumber }) => {
      if (callNumber === 12) await worker().temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel();
      return { state: 'succeeded', fingerprint: String(callNumber) };
    },
    endTurn: async (input) => {
      ended.push(input);
      return endedAs(input);
    },
  }));
  await waitUntil('the turn ends', () => ended.length > 0);
  expect(ended).toMatchObject([{ outcome: 'stopped', cancelled: true }]);
});

test('a stop that rang for the run before is obeyed by the next one', async () => {
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    callModel: () => Promise.resolve(CALLS_A_TOOL),
    continueTurn: () => Promise.resolve({ settings: SETTINGS, stopRequested: true }),
  }));
  await waitUntil('the turn ends', () => turn.outcomes.length > 0);
  expect(turn.outcomes).toEqual(['stopped']);
  expect(await turn.runs()).toBe(2);
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
  const outcomes: string[] = [];
  await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    ...beginsWith({ checkAfterLastStep: true }),
    compactContext: ({ callNumber, turnIsOver }) => {
      checked.push(turnIsOver === true ? `${callNumber} after the answer` : String(callNumber));
      return Promise.resolve({ kind: 'fits', view: { headEntryId: 'head', tokens: 1 } });
    },
    endTurn: (input) => {
      if (called.length === 1) return Promise.resolve({ kind: 'messages_waiting' });
      outcomes.push(input.outcome);
      return Promise.resolve(endedAs(input));
    },
    callModel: ({ callNumber }) => {
      called.push(callNumber);
      return Promise.resolve(ANSWERED);
    },
  }));
  await waitUntil('the turn ends', () => outcomes.length > 0);
  expect(outcomes).toEqual(['completed']);
  expect(checked).toEqual(['1', '2 after the answer', '3', '4 after the answer']);
  expect(called).toEqual([1, 3]);
});

test('a turn that waits for people while it is rung for goes on in new runs, at the same answer', async () => {
  let waiting = 1;
  const called: number[] = [];
  const ran: number[] = [];
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    callModel: ({ callNumber }) => {
      called.push(callNumber);
      return Promise.resolve(callNumber === 1 ? { ...CALLS_A_TOOL, asks: true as const } : ANSWERED);
    },
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
  for (let ring = 0; ring < 12; ring += 1) {
    await ringDoorbell(turn.temporal, turn.taskQueue, turn.conversationId);
    await waitUntilSeen(turn, turn.conversationId);
  }
  expect(await turn.runs()).toBeGreaterThan(2);
  expect(ran).toEqual([]);
  waiting = 0;
  await ringDoorbell(turn.temporal, turn.taskQueue, turn.conversationId);
  await waitUntil('the turn ends', () => turn.outcomes.length > 0, 30_000);
  expect(turn.outcomes).toEqual(['completed']);
  // The answer is asked for by each run, which finds it stored; it is one step, and its call runs once.
  expect(new Set(called)).toEqual(new Set([1, 2]));
  expect(ran).toEqual([1]);
});
