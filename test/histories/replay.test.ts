import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { dataConverter } from '../../src/temporal/data-converter.ts';
import { loadWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { keptHistories } from './kept-histories.ts';
import type { KeptHistory } from './kept-histories.ts';

/** By path, what the replay of a history said; `undefined` of one that replays. */
type Outcomes = ReadonlyMap<string, Error | undefined>;

/** One worker for all of them: each worker reads the whole bundle. */
async function replay(histories: readonly KeptHistory[]): Promise<Outcomes> {
  const outcomes = new Map<string, Error | undefined>();
  const replayed = Worker.runReplayHistories(
    { workflowBundle: await loadWorkflowBundle(), dataConverter },
    histories.map(({ path, text }) => ({ workflowId: path, history: JSON.parse(text) as unknown })),
  );
  try {
    for await (const { workflowId, error } of replayed) outcomes.set(workflowId, error);
  } catch (error) {
    // The worker itself ended, of the history that it was at.
    const ending = histories.find(({ path }) => !outcomes.has(path));
    if (ending !== undefined) outcomes.set(ending.path, error instanceof Error ? error : new Error(String(error)));
  }
  return outcomes;
}

/** @throws an error that says what to do: the message that vitest gives an assertion is not shown when a promise is rejected. */
function judge(outcomes: Outcomes, path: string): void {
  if (!outcomes.has(path)) throw new Error(`The kept history ${path} was not replayed.`);
  const error = outcomes.get(path);
  if (error === undefined) return;
  throw new Error(
    `The workflow no longer replays the kept history ${path}: ${error.message}\nBefore the first release record the histories anew: npm run record-histories. Later, turns under way would break at a deploy: guard the change with patched(), or revert it; see docs/versions.md.`,
    { cause: error },
  );
}

let outcomes: Outcomes;
beforeAll(async () => {
  outcomes = await replay(keptHistories());
});

test('there are histories of turns that went on in a new run', () => {
  expect(keptHistories().filter(({ path }) => path.endsWith('-2.json')).length).toBeGreaterThan(2);
});

test.each(keptHistories())('$path replays with the code of today', ({ path }) => judge(outcomes, path));

test('a history whose activities are in another order does not replay, nor hinders the next; the message names it and says what to do', async () => {
  const [history, next] = keptHistories();
  const path = history?.path ?? '';
  const broken = { path, text: history?.text.replaceAll('"callModel"', '"endTurn"') ?? '' };
  const replayed = await replay([broken, ...(next === undefined ? [] : [next])]);
  const judged = () => judge(replayed, path);
  expect(judged).toThrow(/[Nn]ondeterminism/);
  expect(judged).toThrow('npm run record-histories');
  expect(judged).toThrow('docs/versions.md');
  expect(judged).toThrow(path);
  expect(() => judge(replayed, next?.path ?? '')).not.toThrow();
});
