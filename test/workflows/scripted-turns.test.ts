import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, inject, test } from 'vitest';
import { newId } from '../../src/store/database/ids.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startScriptedTurn, waitUntilSeen } from './support/scripted-turn.ts';
import { ANSWERED, CALLS_A_TOOL, SETTINGS, beginsWith, endedAs } from './support/worker-of-activities.ts';

/** The real workflow, whose activities do what a test says: moments that last as long as one activity, and what goes along into a new run. */
const address = inject('shortHistoryTemporalAddress');

test('a decision that is rung for while the turn asks what is open is not waited for', async () => {
  const counts = [1, 0];
  let asked = 0;
  const turn = await startScriptedTurn(address, ({ conversationId, worker }) => ({
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
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  expect(asked).toBe(2);
});

test('a decision that nobody makes is looked at again when its time is over', async () => {
  let asked = 0;
  const turn = await startScriptedTurn(inject('temporalAddress'), () => ({
    callModel: ({ callNumber }) =>
      Promise.resolve(callNumber === 1 ? { ...CALLS_A_TOOL, asks: true as const } : ANSWERED),
    requestDecisions: async () => {
      asked += 1;
      return { waiting: asked === 1 ? 1 : 0, questions: 0, expiresInMilliseconds: 500 };
    },
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  expect(asked).toBe(2);
});

test("Temporal's cancel that comes as a turn is about to move to a new run stops it", async () => {
  const turn = await startScriptedTurn(address, ({ conversationId, worker }) => ({
    // Far more steps than fit into a run.
    callModel: () => Promise.resolve(CALLS_A_TOOL),
    runTool: async ({ callNumber }) => {
      if (callNumber === 12) await worker().temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel();
      return { state: 'succeeded', fingerprint: String(callNumber) };
    },
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'stopped', cancelled: true }]);
});

test("Temporal's own cancel during the check behind the last answer ends the turn as completed, and says with it that it came", async () => {
  let release = (): void => undefined;
  const isOver = new Promise<void>((resolve) => {
    release = resolve;
  });
  const turn = await startScriptedTurn(inject('temporalAddress'), ({ conversationId, worker }) => ({
    ...beginsWith({ checkAfterLastStep: true }),
    compactContext: async ({ turnIsOver }) => {
      if (turnIsOver === true) {
        await worker().temporal.workflow.getHandle(turnWorkflowId(conversationId)).cancel();
        await isOver;
      }
      return { kind: 'fits', view: { headEntryId: 'head', tokens: 100 } };
    },
    endTurn: async (input) => {
      release();
      return endedAs(input);
    },
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'completed', cancelled: true }]);
});

test('a stop that rang for the run before is obeyed by the next one', async () => {
  const turn = await startScriptedTurn(address, () => ({
    callModel: () => Promise.resolve(CALLS_A_TOOL),
    continueTurn: () => Promise.resolve({ settings: SETTINGS, stopRequested: true }),
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'stopped' }]);
  expect(await turn.runs()).toBe(2);
});

test('a call whose head has moved is made again behind a new check, as often as the head moves', async () => {
  const checked: number[] = [];
  const called: number[] = [];
  const turn = await startScriptedTurn(address, () => ({
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
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  expect(checked).toEqual([1, 2, 3]);
  expect(called).toEqual([1, 2, 3]);
});

test('P2 a preset checks once more behind the last answer; a message that comes within that check is answered, and only the next answer is checked again', async () => {
  const checked: string[] = [];
  const called: number[] = [];
  const turn = await startScriptedTurn(address, () => ({
    ...beginsWith({ checkAfterLastStep: true }),
    compactContext: ({ callNumber, turnIsOver }) => {
      checked.push(turnIsOver === true ? `${callNumber} after the answer` : String(callNumber));
      return Promise.resolve({ kind: 'fits', view: { headEntryId: 'head', tokens: 1 } });
    },
    endTurn: async (input) => (called.length === 1 ? { kind: 'messages_waiting' } : endedAs(input)),
    callModel: ({ callNumber }) => {
      called.push(callNumber);
      return Promise.resolve(ANSWERED);
    },
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  expect(checked).toEqual(['1', '2 after the answer', '3', '4 after the answer']);
  expect(called).toEqual([1, 3]);
});

test('a turn that waits for people while it is rung for goes on in new runs, at the same answer', async () => {
  let waiting = 1;
  const called: number[] = [];
  const ran: number[] = [];
  const turn = await startScriptedTurn(address, () => ({
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
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  // The answer is asked for by each run, which finds it stored; it is one step, and its call runs once.
  expect(new Set(called)).toEqual(new Set([1, 2]));
  expect(ran).toEqual([1]);
});

test('a second overflow ends the turn, also when the first one was recovered from in an earlier run', async () => {
  const forced: number[] = [];
  const turn = await startScriptedTurn(address, () => ({
    compactContext: (input) => {
      if (input.forced === 'overflow') forced.push(input.callNumber);
      return Promise.resolve({ kind: 'fits', view: { headEntryId: 'head', tokens: 1 } });
    },
    callModel: ({ callNumber }) =>
      Promise.resolve(callNumber === 2 || callNumber === 14 ? { kind: 'overflow' } : CALLS_A_TOOL),
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'context_exhausted', reason: 'second_overflow' }]);
  expect(forced).toEqual([3]);
  expect(await turn.runs()).toBeGreaterThan(1);
});

test.each([
  ['calls with the same result again and again', 'calls_repeated', 16, false],
  ['compactions between which nothing new is seen', 'compactions_without_progress', 4, true],
] as const)('%s end a turn, whatever run they were in', async (_, reason, calls, compacts) => {
  const planned = { compactionId: newId(), waves: [], tokensBefore: 1_000 };
  const view = { headEntryId: 'head', tokens: 100 };
  let ran = 0;
  const turn = await startScriptedTurn(address, () => ({
    ...beginsWith({}, { loopLimits: { repeatedCalls: 16, compactionsWithoutProgress: 2, continuations: 1 } }),
    compactContext: async () => (compacts && ran > 0 ? { kind: 'planned', planned } : { kind: 'fits', view }),
    commitCompaction: async () => ({ kind: 'committed', view }),
    callModel: async () => CALLS_A_TOOL,
    runTool: async () => {
      ran += 1;
      return { state: 'succeeded', fingerprint: 'the same' };
    },
  }));
  expect(await turn.end()).toMatchObject([{ outcome: 'budget_exhausted', reason }]);
  expect(ran).toBe(calls);
  expect(await turn.runs()).toBeGreaterThan(1);
});

test.each([
  ['seen before ends no row of continuations', () => 'the same', 4],
  ['new does', String, 12],
] as const)('R6 of answers that are cut, a tool result that was %s', async (_, fingerprintOf, steps) => {
  let called = 0;
  const turn = await startScriptedTurn(address, () => ({
    callModel: async () => {
      called += 1;
      if (called === 12) return ANSWERED;
      return called % 2 === 0 ? { ...ANSWERED, unfinished: 'answer_cut' as const } : CALLS_A_TOOL;
    },
    runTool: async ({ callNumber }) => ({ state: 'succeeded', fingerprint: fingerprintOf(callNumber) }),
  }));
  const reason = steps === 12 ? null : 'answer_cut';
  expect(await turn.end()).toMatchObject([{ outcome: 'completed', reason }]);
  expect(called).toBe(steps);
});

test('when one of several tool calls fails for good, the worker is told to cancel the others, which are awaited before the turn ends', async () => {
  const order: string[] = [];
  const turn = await startScriptedTurn(inject('temporalAddress'), ({ worker }) => ({
    callModel: () => Promise.resolve({ ...CALLS_A_TOOL, calls: [0, 0] }),
    runTool: async ({ callIndex }) => {
      if (callIndex === 0) {
        await waitUntil('the other one runs', () => order.includes('begun'));
        throw ApplicationFailure.nonRetryable('broken', 'Broken');
      }
      const { activityId } = Context.current().info;
      order.push('begun');
      await waitUntil('the worker is told', () => worker().cancelled.includes(Number(activityId)));
      order.push('cancelled');
      throw new CancelledFailure('CANCELLED');
    },
    endTurn: async (input) => {
      order.push(`ended as ${input.outcome}`);
      return endedAs(input);
    },
  }));
  await turn.end();
  expect(order).toEqual(['begun', 'cancelled', 'ended as interrupted']);
  expect(await turn.runs()).toBe(1);
});

test('calls of one answer run at once, eight at a time, an exclusive one alone and in its place', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const running = new Set<number>();
  const beside: number[] = [];
  const turn = await startScriptedTurn(inject('temporalAddress'), () => ({
    callModel: ({ callNumber }) =>
      Promise.resolve(
        callNumber === 1
          ? {
              ...CALLS_A_TOOL,
              tools: { names: ['read', 'publish'], timeoutSeconds: [10, 10], exclusive: [1] },
              calls: [...Array.from({ length: 20 }, () => 0), 1, 0],
            }
          : ANSWERED,
      ),
    runTool: async ({ callIndex }) => {
      running.add(callIndex);
      if (callIndex >= 20) beside.push(callIndex, running.size);
      await released;
      running.delete(callIndex);
      return { state: 'succeeded', fingerprint: String(callIndex) };
    },
  }));
  const pending = async (): Promise<number> => {
    const { raw } = await turn.temporal.workflow.getHandle(turnWorkflowId(turn.conversationId)).describe();
    return raw.pendingActivities?.length ?? 0;
  };
  await waitUntil('eight are scheduled', async () => (await pending()) >= 8);
  await waitUntilSeen(turn, turn.conversationId);
  expect(await pending()).toBe(8);
  release();
  expect(await turn.end()).toMatchObject([{ outcome: 'completed' }]);
  expect(beside).toEqual([20, 1, 21, 1]);
});
