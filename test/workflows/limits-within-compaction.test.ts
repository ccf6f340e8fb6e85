import { expect, inject, onTestFinished, test } from 'vitest';
import type { Activities } from '../../src/activities/create-activities.ts';
import { newId } from '../../src/store/database/ids.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { CallModelResult, CommitCompactionResult } from '../../src/turn/activity-values.ts';
import {
  ANSWERED,
  beginsWith,
  scriptedActivities,
  startWorkerOfActivities,
  endedAs,
} from './support/worker-of-activities.ts';

const PLANNED = {
  compactionId: newId(),
  waves: [[{ number: 1, label: 'part 1' }], [{ number: 2, label: 'part 2' }]],
  tokensBefore: 1_000,
};

/** Runs a turn of these activities, each of which is logged, and tells what was called and how it ended. */
async function runTurn(scripted: Partial<Activities>, commandOnly = false): Promise<readonly string[]> {
  const conversationId = newId();
  const log: string[] = [];
  const all = scriptedActivities(scripted);
  const worker = await startWorkerOfActivities(inject('temporalAddress'), {
    ...all,
    ...beginsWith({}, { commandOnly }),
    compactContext: scripted.compactContext ?? (async () => ({ kind: 'planned', planned: PLANNED })),
    summarize: async (input) => {
      log.push(`summarize ${input.part}`);
      return all.summarize(input);
    },
    commitCompaction: async (input) => {
      log.push('commit');
      return all.commitCompaction(input);
    },
    callModel: async (input) => {
      log.push('call');
      return all.callModel(input);
    },
    endTurn: async (input) => {
      log.push(`${input.outcome} ${input.reason}`);
      return endedAs(input);
    },
  });
  onTestFinished(() => worker.stop());
  await ringDoorbell(worker.temporal, worker.taskQueue, conversationId);
  await waitUntil('the turn ends', async () => log.some((each) => /^(?:budget_exhausted|completed) /u.test(each)));
  return log;
}

test('a limit that a summary reaches ends the turn before the next summary', async () => {
  const log = await runTurn({
    summarize: ({ part }) =>
      Promise.resolve(part === 1 ? { kind: 'summarized', tokens: 10 } : { kind: 'limit', reason: 'cost_limit' }),
  });
  expect(log).toEqual(['summarize 1', 'summarize 2', 'budget_exhausted cost_limit']);
});

const COMMITTED = { kind: 'committed', view: { headEntryId: 'head', tokens: 100 }, tokensBefore: 1_000 } as const;
const SPENT_BY_THE_LAST: Partial<Activities> = {
  summarize: () => Promise.resolve({ kind: 'summarized', tokens: 10 }),
  commitCompaction: () => Promise.resolve({ ...COMMITTED, limit: 'cost_limit' }),
};

test('a limit that the last summary reaches ends no turn that was to compact and nothing else', async () => {
  const log = await runTurn(SPENT_BY_THE_LAST, true);
  expect(log).toEqual(['summarize 1', 'summarize 2', 'commit', 'completed null']);
});

test('a limit that the last summary reaches ends the turn once its compaction is committed, before the model is asked', async () => {
  const log = await runTurn(SPENT_BY_THE_LAST);
  expect(log).toEqual(['summarize 1', 'summarize 2', 'commit', 'budget_exhausted cost_limit']);
});

const EACH_SUMMARY_COSTS_MORE = `models:
  simulator/sim-8k: { prices: { input: 100, output: 100, cacheRead: 100, cacheWrite: 100 } }
agents:
  frugal: { model: simulator/sim-8k, instructions: Work., tools: [list_files], limits: { cost: 0.10 } }
`;

test('summaries that cost more than a turn may leave the model unasked, and a raise lets the turn go on', async () => {
  const harness = await startTurnHarness({ configurationFile: EACH_SUMMARY_COSTS_MORE });
  onTestFinished(() => harness.stop());
  const { client } = harness;
  const { conversationId } = await client.start('Say hello', { agent: 'frugal' });
  const pumps = 'the pump opens at 7 bar and closes at night; '.repeat(50);
  let messageId = '';
  for (let number = 0; number < 30; number += 1) {
    const content = `Say ${number} ${pumps}`;
    ({ messageId } = await client.conversation.send({ conversationId, content, mode: 'steer' }));
  }
  await harness.startWorker();
  const ended = await client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 60_000 });
  expect(ended).toMatchObject({ outcome: 'budget_exhausted', reason: 'cost_limit' });
  expect((await client.log.modelCalls({ conversationId })).items).toEqual([]);
  const resumed = await client.conversation.resume({ conversationId, raise: { cost: 100 } });
  expect(await client.conversation.outcome({ ...resumed, timeoutMilliseconds: 60_000 })).toMatchObject({
    outcome: 'completed',
  });
});

test('after an overflow, a plan under which something was appended is followed by a check that is forced too', async () => {
  const forced: unknown[] = [];
  const commits: CommitCompactionResult[] = [{ kind: 'moved' }, COMMITTED];
  const answers: CallModelResult[] = [{ kind: 'overflow' }, ANSWERED];
  await runTurn({
    compactContext: async (input) => {
      forced.push([input.callNumber, input.forced]);
      return forced.length === 1
        ? { kind: 'fits', view: COMMITTED.view }
        : { kind: 'planned', planned: { ...PLANNED, waves: [] } };
    },
    commitCompaction: async () => commits.shift() ?? COMMITTED,
    callModel: async () => answers.shift() ?? ANSWERED,
  });
  expect(forced).toEqual([
    [1, null],
    [2, 'overflow'],
    [3, 'overflow'],
  ]);
});
