import { expect, inject, test } from 'vitest';
import type { Activities } from '../../src/activities/create-activities.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import type { CompactContextInput, PlannedCompaction } from '../../src/turn/activity-values.ts';
import { waitUntil } from '../support/wait-until.ts';
import { runHistories, startScriptedTurn, waitUntilSeen } from './support/scripted-turn.ts';
import type { ScriptedTurn } from './support/scripted-turn.ts';
import { ANSWERED, beginsWith } from './support/worker-of-activities.ts';

/** What goes on within one step for hours, here until the server suggests a new run, which is after moments. */

const VIEW = { headEntryId: 'head', tokens: 100 };
const WAIT = { kind: 'wait', delayMilliseconds: 1 } as const;
/** More than fit into a run. A timer of the server takes a second at least. */
const WAITS = 4;
const PARTS = 40;

/** A compaction of one wave whose written parts are left out when it is asked for again. */
function plannedCompaction(parts: number, compacts: (input: CompactContextInput) => boolean) {
  const written = new Set<number>();
  const checks: CompactContextInput[] = [];
  const called: number[] = [];
  let committed = false;
  const numbers = Array.from({ length: parts }, (_, index) => index + 1);
  const planned = (): PlannedCompaction => {
    const left = numbers.filter((number) => !written.has(number));
    const wave = left.map((number) => ({ number, label: `part ${number}` }));
    return { compactionId: 'compaction', tokensBefore: 1_000, waves: wave.length === 0 ? [] : [wave] };
  };
  const activities: Partial<Activities> = {
    compactContext: (input) => {
      checks.push(input);
      if (committed || !compacts(input)) return Promise.resolve({ kind: 'fits', view: VIEW });
      return Promise.resolve({ kind: 'planned', planned: planned() });
    },
    commitCompaction: () => {
      committed = true;
      return Promise.resolve({ kind: 'committed', view: VIEW, tokensBefore: 1_000 });
    },
    callModel: ({ callNumber }) => {
      called.push(callNumber);
      return Promise.resolve(ANSWERED);
    },
  };
  const waits = new Map<number, number>();
  /** Waits each part out before it is written. */
  const summarizeAfterWaits: Activities['summarize'] = ({ part }) => {
    const asked = (waits.get(part) ?? 0) + 1;
    waits.set(part, asked);
    if (asked < WAITS) return Promise.resolve(WAIT);
    written.add(part);
    return Promise.resolve({ kind: 'summarized', tokens: 10 });
  };
  return { activities, written, checks, called, summarizeAfterWaits, isCommitted: () => committed };
}

async function ended(turn: ScriptedTurn): Promise<readonly string[]> {
  await waitUntil('the turn ends', () => turn.outcomes.length > 0, 60_000);
  return turn.outcomes;
}

test('a turn whose summaries wait for their provider goes on in new runs, at the same check', async () => {
  const compaction = plannedCompaction(2, () => true);
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    ...compaction.activities,
    summarize: compaction.summarizeAfterWaits,
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(compaction.isCommitted()).toBe(true);
  expect(await turn.runs()).toBeGreaterThan(2);
  expect(new Set(compaction.checks.map(({ callNumber }) => callNumber))).toEqual(new Set([1]));
  expect(compaction.called).toEqual([1]);
});

test('a compaction of many parts goes on in new runs, and no part is asked for twice', async () => {
  const compaction = plannedCompaction(PARTS, () => true);
  const asked: number[] = [];
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    ...compaction.activities,
    summarize: ({ part }) => {
      asked.push(part);
      compaction.written.add(part);
      return Promise.resolve({ kind: 'summarized', tokens: 10 });
    },
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(compaction.isCommitted()).toBe(true);
  expect(await turn.runs()).toBeGreaterThan(2);
  expect(asked.toSorted((one, other) => one - other)).toEqual(Array.from({ length: PARTS }, (_, index) => index + 1));
});

test('a part that failed is not asked for again in a new run: the weaker form comes first', async () => {
  const compaction = plannedCompaction(2, () => true);
  let failures = 0;
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
    ...compaction.activities,
    summarize: async ({ part }) => {
      if (part === 1) return WAIT;
      // The other one has waited by then, and seen that the history is long.
      const handle = worker().temporal.workflow.getHandle(turnWorkflowId(conversationId));
      await waitUntil('it has waited', async () => {
        const { events } = await handle.fetchHistory();
        return events?.some((event) => event.timerFiredEventAttributes != null) === true;
      });
      await waitUntilSeen(worker(), conversationId);
      failures += 1;
      return { kind: 'failed', failures: 6 };
    },
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(failures).toBe(1);
  expect(compaction.isCommitted()).toBe(true);
  // In the same run.
  expect(compaction.checks).toHaveLength(1);
});

test('a new run within the check after the last answer makes no further step', async () => {
  // The check before the model call finds nothing to do, the one after the answer does.
  const compaction = plannedCompaction(1, ({ turnIsOver }) => turnIsOver === true);
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    ...compaction.activities,
    ...beginsWith({ checkAfterLastStep: true }),
    summarize: compaction.summarizeAfterWaits,
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(compaction.isCommitted()).toBe(true);
  expect(await turn.runs()).toBeGreaterThan(2);
  expect(compaction.called).toEqual([1]);
});

test('a message that comes in a new run within the check after the last answer is answered', async () => {
  const compaction = plannedCompaction(1, ({ turnIsOver }) => turnIsOver === true);
  let isWaiting = false;
  let taken = 0;
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), ({ conversationId, worker }) => ({
    ...compaction.activities,
    ...beginsWith({ checkAfterLastStep: true }),
    lookAtInbox: () =>
      Promise.resolve({ waiting: 0, steering: isWaiting ? 1 : 0, stopRequested: false, compactRequested: false }),
    takeMessages: () => {
      isWaiting = false;
      taken += 1;
      return Promise.resolve();
    },
    summarize: async (input) => {
      const result = await compaction.summarizeAfterWaits(input);
      if (result.kind === 'wait') return result;
      isWaiting = true;
      await worker().temporal.workflow.getHandle(turnWorkflowId(conversationId)).executeUpdate('acknowledge');
      return result;
    },
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(await turn.runs()).toBeGreaterThan(2);
  expect(taken).toBe(1);
  // Two answers, and each is followed by one check, which the runs share.
  expect(compaction.called).toEqual([1, 3]);
  const afterAnswers = compaction.checks.filter(({ turnIsOver }) => turnIsOver === true);
  expect(new Set(afterAnswers.map(({ callNumber }) => callNumber))).toEqual(new Set([2, 4]));
});

test('a wish to compact an idle conversation goes on in new runs and makes no step', async () => {
  const compaction = plannedCompaction(1, ({ forced }) => forced === 'manual');
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    ...compaction.activities,
    ...beginsWith({}, { commandOnly: true, compactRequested: true }),
    summarize: compaction.summarizeAfterWaits,
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(compaction.isCommitted()).toBe(true);
  expect(await turn.runs()).toBeGreaterThan(2);
  expect(compaction.called).toEqual([]);
});

test('a change of branch whose summary waits for its provider goes on in new runs', async () => {
  let waits = 0;
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    ...beginsWith({}, { commandOnly: true, branchRequested: true }),
    changeBranch: () => {
      waits += 1;
      return Promise.resolve(waits < WAITS ? WAIT : { kind: 'changed' });
    },
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(waits).toBe(WAITS);
  expect(await turn.runs()).toBeGreaterThan(1);
});

test('the last part of a compaction is followed by its commit, in the run that it was written in', async () => {
  const compaction = plannedCompaction(8, () => true);
  const turn = await startScriptedTurn(inject('shortHistoryTemporalAddress'), () => ({
    ...compaction.activities,
    summarize: ({ part }) => {
      compaction.written.add(part);
      return Promise.resolve({ kind: 'summarized', tokens: 10 });
    },
  }));
  expect(await ended(turn)).toEqual(['completed']);
  expect(compaction.checks).toHaveLength(1);
  // All eight began at once, and the server suggested a new run before the last one was written.
  const [events = []] = await runHistories(turn.temporal, turn.conversationId);
  const suggested = events.findIndex(
    (event) => event.workflowTaskStartedEventAttributes?.suggestContinueAsNew === true,
  );
  const committed = events.findIndex(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'commitCompaction',
  );
  expect(suggested).toBeGreaterThan(0);
  expect(suggested).toBeLessThan(committed);
});
