import { once } from 'node:events';
import { CancelledFailure } from '@temporalio/common';
import { z } from 'zod';
import { expect, test } from 'vitest';
import { runTool } from '../../src/activities/tool/run-tool.ts';
import { textOf } from '../../src/context/log/content.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { listLateToolResults } from '../../src/store/attempts/tool-calls.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { diskFull } from '../support/disk-full.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { databaseBehindProxy } from './support/cut-off-worker.ts';
import { asked, useStoreAndSimulator } from './support/store-and-simulator.ts';
import { modelCall, summary } from './support/asking-work.ts';
import { CALL, toolResults, turnCalling } from './support/tool-calls.ts';

let store: TestStore;
let simulator: Simulator;

useStoreAndSimulator((opened) => {
  ({ store, simulator } = opened);
});

/** An attempt that Temporal can give up. */
function attemptGivenUp() {
  const controller = new AbortController();
  return {
    execution: execution({ signal: controller.signal }),
    giveUp: () => controller.abort(new CancelledFailure('NOT_FOUND')),
  };
}

/**
 * A turn whose first answer calls `publish`, a `once` tool.
 * @param isSlow it ends when it is told to
 */
async function publishing(isSlow = false) {
  const runs: string[] = [];
  const tool = defineTool({
    name: 'publish',
    description: 'Publishes.',
    input: z.object({}),
    effect: 'once',
    async run(_, { conversationId, signal }) {
      runs.push(conversationId);
      if (isSlow) {
        await once(signal, 'abort');
        signal.throwIfAborted();
      }
      return { content: `receipt ${runs.length}` };
    },
  });
  return { tool, turn: await turnCalling(store.sql, tool), runs };
}

type Publishing = Awaited<ReturnType<typeof publishing>>;
type CutOff = Awaited<ReturnType<typeof behindProxy>>;

const results = (turn: TurnReference): Promise<string[]> => toolResults(store.sql, turn);

test('the attempt that follows the one that Temporal gave up takes its result, once Postgres takes it: the tool acts once', async () => {
  const { tool, turn, runs } = await publishing();
  const dependencies = activityDependencies(store.sql, { tools: [tool] });
  const full = await diskFull(store.sql);
  const first = attemptGivenUp();
  const running = runTool(dependencies, { turn, ...CALL }, first.execution);
  await waitUntil('the result is refused', async () => (await full.refusals()) >= 2);
  first.giveUp();
  const next = execution({ attempt: 2 });
  // As every activity does first.
  const settled = dependencies.outlastingWork.settled(next);
  const second = settled.then(() => runTool(dependencies, { turn, ...CALL }, next));
  const refused = await full.refusals();
  await waitUntil('it is tried again without its activity', async () => (await full.refusals()) > refused);
  await full.end();
  expect(await Promise.all([running, second])).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }]);
  expect(await results(turn)).toEqual(['receipt 1']);
  expect(runs).toHaveLength(1);
  expect(await listLateToolResults(store.sql, [turn.turnId])).toEqual([]);
});

test('an attempt that waits for the result of the one before ends when it is stopped', async () => {
  const { tool, turn } = await publishing();
  const dependencies = activityDependencies(store.sql, { tools: [tool] });
  const full = await diskFull(store.sql);
  const [first, second] = [attemptGivenUp(), attemptGivenUp()];
  const running = runTool(dependencies, { turn, ...CALL }, first.execution);
  await waitUntil('the result is refused', async () => (await full.refusals()) >= 1);
  const waiting = expect(dependencies.outlastingWork.settled(second.execution)).rejects.toThrow(CancelledFailure);
  first.giveUp();
  second.giveUp();
  await waiting;
  await full.end();
  expect(await dependencies.outlastingWork.settled(execution({ attempt: 3 }))).toBe(true);
  expect(await running).toMatchObject({ state: 'succeeded' });
  expect(await results(turn)).toEqual(['receipt 1']);
});

/** Dependencies of a worker that loses its way to Postgres, and what gives it back. */
async function behindProxy(tool: Publishing['tool']) {
  const { proxy, database } = await databaseBehindProxy(store.url);
  return { proxy, dependencies: activityDependencies(database, { tools: [tool], worker: 'cut off' }) };
}

/** What becomes of the call of a worker that is cut off, was given up and is asked again elsewhere, once its way is back. */
async function expectKeptBeside(
  { tool, turn }: Publishing,
  { proxy }: CutOff,
  { running, told }: { readonly running: Promise<unknown>; readonly told: string },
): Promise<void> {
  const other = activityDependencies(store.sql, { tools: [tool] });
  expect(await runTool(other, { turn, ...CALL }, execution({ attempt: 2 }))).toMatchObject({
    state: 'outcome_unknown',
  });
  await proxy.mend();
  await expect(running).rejects.toMatchObject({ type: 'SupersededAttempt' });
  expect(await results(turn)).toEqual([expect.stringMatching(/^Outcome unknown: /u)]);
  const late = await listLateToolResults(store.sql, [turn.turnId]);
  expect(late).toMatchObject([{ attempt: 1, workerIdentity: 'cut off' }]);
  expect(late.map(({ content }) => textOf(content))).toEqual([expect.stringContaining(told)]);
}

test('when another worker is asked first, the model reads that the outcome is unknown and the result is kept beside the log', async () => {
  const published = await publishing();
  const cutOff = await behindProxy(published.tool);
  const dependencies = {
    ...cutOff.dependencies,
    reachCrashPoint: (point: string) => void (point === 'finished' && cutOff.proxy.reset()),
  };
  const first = attemptGivenUp();
  const running = runTool(dependencies, { turn: published.turn, ...CALL }, first.execution);
  await waitUntil('the tool has acted', () => published.runs.length === 1);
  first.giveUp();
  await expectKeptBeside(published, cutOff, { running, told: 'receipt 1' });
});

test('what a tool came to that is ended while Postgres does not say why is kept beside the log, once Postgres says it', async () => {
  const published = await publishing(true);
  const cutOff = await behindProxy(published.tool);
  const first = attemptGivenUp();
  const running = runTool(cutOff.dependencies, { turn: published.turn, ...CALL }, first.execution);
  await waitUntil('the tool acts', () => published.runs.length === 1);
  await cutOff.proxy.reset();
  first.giveUp();
  await expectKeptBeside(published, cutOff, { running, told: 'The call was stopped.' });
});

test.each([
  ['is stored by a last try', true],
  ['does not hold the process when Postgres is still away', false],
] as const)('what waits when the grace period of a shutdown is over %s', async (_, back) => {
  const { tool, turn } = await publishing();
  const dependencies = activityDependencies(store.sql, { tools: [tool] });
  const full = await diskFull(store.sql);
  const running = runTool(dependencies, { turn, ...CALL }, execution());
  const ended = back
    ? expect(running).resolves.toMatchObject({ state: 'succeeded' })
    : expect(running).rejects.toMatchObject({ code: '53100' });
  // The next try is 1.6 s away.
  await waitUntil('the result is refused', async () => (await full.refusals()) >= 5);
  if (back) await full.end();
  await dependencies.outlastingWork.end();
  expect(await results(turn)).toEqual(back ? ['receipt 1'] : []);
  await ended;
  if (!back) await full.end();
});

test.each([
  ['an answer', modelCall, 'insert on entries'],
  ['a summary', summary, 'update of text on compaction_parts'],
] as const)(
  '%s that came is stored after Temporal gave its activity up, and not bought again',
  async (_, work, refused) => {
    const { attempt } = await work(store.sql);
    const before = await asked(simulator);
    const dependencies = activityDependencies(store.sql, { simulatorUrl: simulator.url });
    const full = await diskFull(store.sql, refused);
    const first = attemptGivenUp();
    const running = attempt(dependencies, first.execution);
    await waitUntil('it is refused', async () => (await full.refusals()) >= 2);
    first.giveUp();
    const refusals = await full.refusals();
    const goesOn = async (): Promise<boolean> => (await full.refusals()) >= refusals + 2;
    await waitUntil('it is tried again without its activity', goesOn);
    await full.end();
    const next = execution({ attempt: 2 });
    expect(await dependencies.outlastingWork.settled(next)).toBe(true);
    expect(await attempt(dependencies, next)).toEqual(await running);
    expect((await asked(simulator)) - before).toBe(1);
  },
);
