import { expect, inject, test } from 'vitest';
import type { Activities } from '../../src/activities/create-activities.ts';
import { newId } from '../../src/store/database/ids.ts';
import type { CallModelResult, CommitCompactionResult } from '../../src/turn/activity-values.ts';
import { startScriptedTurn } from './support/scripted-turn.ts';
import { ANSWERED, beginsWith } from './support/worker-of-activities.ts';

const PLANNED = {
  compactionId: newId(),
  waves: [[{ number: 1, label: 'part 1' }], [{ number: 2, label: 'part 2' }]],
  tokensBefore: 1_000,
};
const COMMITTED = { kind: 'committed', view: { headEntryId: 'head', tokens: 100 } } as const;
const SPENT_BY_THE_LAST: Partial<Activities> = {
  commitCompaction: async () => ({ ...COMMITTED, limit: 'cost_limit' }),
};

/** Runs a turn that compacts first, and tells what was called and how it ended. */
async function runTurn(
  { summarize, commitCompaction, callModel, ...scripted }: Partial<Activities>,
  commandOnly = false,
): Promise<readonly string[]> {
  const log: string[] = [];
  const turn = await startScriptedTurn(inject('temporalAddress'), () => ({
    ...beginsWith({}, { commandOnly }),
    compactContext: async () => ({ kind: 'planned', planned: PLANNED }),
    ...scripted,
    summarize: async (input) => {
      log.push(`summarize ${input.part}`);
      return (await summarize?.(input)) ?? { kind: 'summarized' };
    },
    commitCompaction: async (input) => {
      log.push('commit');
      return (await commitCompaction?.(input)) ?? COMMITTED;
    },
    callModel: async (input) => {
      log.push('call');
      return (await callModel?.(input)) ?? ANSWERED;
    },
  }));
  const [end] = await turn.end();
  return [...log, `${end?.outcome} ${end?.reason}`];
}

test('a limit that a summary reaches ends the turn before the next summary', async () => {
  const log = await runTurn({
    summarize: async ({ part }) => (part === 1 ? { kind: 'summarized' } : { kind: 'limit', reason: 'cost_limit' }),
  });
  expect(log).toEqual(['summarize 1', 'summarize 2', 'budget_exhausted cost_limit']);
});

test.each([
  ['ends no turn that was to compact and nothing else', true, 'completed null'],
  ['ends the turn once its compaction is committed, before the model is asked', false, 'budget_exhausted cost_limit'],
] as const)('a limit that the last summary reaches %s', async (_, commandOnly, end) => {
  expect(await runTurn(SPENT_BY_THE_LAST, commandOnly)).toEqual(['summarize 1', 'summarize 2', 'commit', end]);
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
