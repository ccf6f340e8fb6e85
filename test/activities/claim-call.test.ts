import { once } from 'node:events';
import { CancelledFailure } from '@temporalio/common';
import { z } from 'zod';
import { expect, test } from 'vitest';
import { closeToolCall } from '../../src/activities/tool/decisions.ts';
import type { ActivityDependencies } from '../../src/activities/runtime/dependencies.ts';
import { runTool } from '../../src/activities/tool/run-tool.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { claimToolCall, readToolCall } from '../../src/store/attempts/tool-calls.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ToolDefinition, ToolEffect } from '../../src/tools/tool.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { verify } from '../../src/verify/verify.ts';
import { claimer, useTestStore } from '../store/support/store-builders.ts';
import type { TestStore } from '../store/support/store-builders.ts';
import { diskFull } from '../support/disk-full.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { databaseBehindProxy } from './support/cut-off-worker.ts';
import { CALL, toolResults, turnCalling } from './support/tool-calls.ts';

let store: TestStore;
useTestStore((opened) => {
  store = opened;
});

/**
 * A turn whose first answer calls `publish`.
 * @param beginning what the check of its arguments waits for
 * @param act what it does, having begun
 */
async function publishing({
  effect = 'once',
  beginning = () => Promise.resolve(),
  act = () => Promise.resolve(),
}: {
  readonly effect?: ToolEffect;
  readonly beginning?: () => Promise<void>;
  readonly act?: (signal: AbortSignal) => Promise<void>;
} = {}) {
  const runs: number[] = [];
  const tool = defineTool({
    name: 'publish',
    description: 'Publishes.',
    input: z.object({}).refine(async () => {
      await beginning();
      return true;
    }),
    effect,
    async run(_, { attempt, signal }) {
      runs.push(attempt);
      await act(signal);
      return { content: `receipt ${runs.length}` };
    },
  });
  return { tool, turn: await turnCalling(store.sql, tool), runs };
}

/** A worker that reaches Postgres by a way that can be cut. */
async function behindProxy(tool: ToolDefinition) {
  const { proxy, database } = await databaseBehindProxy(store.url, { silenceLimitMilliseconds: 500 });
  return { proxy, dependencies: activityDependencies(database, { tools: [tool], worker: 'cut off' }) };
}

/** An attempt that can be ended, and what begins once it is. */
function attemptToEnd() {
  const controller = new AbortController();
  const { signal } = controller;
  return {
    execution: execution({ signal }),
    end: () => controller.abort(new CancelledFailure('WORKER_SHUTDOWN')),
    hasEnded: async () => {
      if (!signal.aborted) await once(signal, 'abort');
    },
  };
}

const another = (tool: ToolDefinition): ActivityDependencies =>
  activityDependencies(store.sql, { tools: [tool], worker: 'another' });

const results = (turn: TurnReference): Promise<string[]> => toolResults(store.sql, turn);

const callOf = (turn: TurnReference) => readToolCall(store.sql, { ...turn, ...CALL });

async function claims(turn: TurnReference): Promise<number> {
  return (await callOf(turn)).attempt;
}

test.each([
  ['a reset', 'the commit of its claim', 'commit', 'reset'],
  ['silence', 'the commit of its claim', 'commit', 'silence'],
  ['silence', 'the claim itself', "set state = 'claimed'", 'silence'],
] as const)('a `once` tool acts once, with its result, when %s comes instead of the answer to %s', async (...given) => {
  const [, , asked, instead] = given;
  const { tool, turn, runs } = await publishing();
  const { proxy, dependencies } = await behindProxy(tool);
  proxy.loseAnswerTo(asked, instead);
  expect(await runTool(dependencies, { turn, ...CALL }, execution())).toMatchObject({ state: 'succeeded' });
  expect(proxy.lostAnswers()).toBe(1);
  expect(runs).toEqual([1]);
  expect(await results(turn)).toEqual(['receipt 1']);
  expect(await claims(turn)).toBe(1);
});

test('a tool that is taken over from a dead worker acts once more when the answer to the takeover is lost', async () => {
  const { tool, turn, runs } = await publishing({ effect: 'idempotent' });
  await claimToolCall(store.sql, { turn, ...CALL, ...claimer('dead') });
  const { proxy, dependencies } = await behindProxy(tool);
  proxy.loseAnswerTo("set state = 'claimed'");
  await runTool(dependencies, { turn, ...CALL }, execution({ attempt: 2 }));
  expect(proxy.lostAnswers()).toBe(1);
  expect(runs).toEqual([2]);
  expect(await results(turn)).toEqual(['receipt 1']);
});

/** An attempt that lost the answer to a statement, and then Postgres, and was ended meanwhile. */
async function endedUnanswered(statement: string) {
  const { tool, turn, runs } = await publishing();
  const { proxy, dependencies } = await behindProxy(tool);
  const first = attemptToEnd();
  proxy.loseAnswerTo(statement);
  const running = expect(runTool(dependencies, { turn, ...CALL }, first.execution)).rejects.toThrow(CancelledFailure);
  await waitUntil('the answer is lost', () => proxy.lostAnswers() === 1);
  await proxy.refuse();
  first.end();
  await running;
  return { tool, turn, runs, proxy };
}

test('of a claim whose commit was not answered before its attempt ended the next attempt cannot know whether the tool ran', async () => {
  const { tool, turn, runs, proxy } = await endedUnanswered('commit');
  await proxy.mend();
  expect(await runTool(another(tool), { turn, ...CALL }, execution({ attempt: 2 }))).toMatchObject({
    state: 'outcome_unknown',
  });
  expect(runs).toEqual([]);
});

test('a call that could not be claimed because Postgres was away is as it was', async () => {
  const { turn, proxy } = await endedUnanswered('require_epoch');
  await proxy.mend();
  expect(await callOf(turn)).toMatchObject({ state: 'requested', attempt: 0 });
});

/** An attempt that is ended while the arguments are checked. */
async function endedBeforeClaim() {
  const first = attemptToEnd();
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const beginning = async (): Promise<void> => {
    begin();
    await first.hasEnded();
  };
  const { tool, turn, runs } = await publishing({ beginning });
  const running = runTool(activityDependencies(store.sql, { tools: [tool] }), { turn, ...CALL }, first.execution);
  const ended = expect(running).rejects.toThrow(CancelledFailure);
  await begun;
  first.end();
  await ended;
  expect(runs).toEqual([]);
  return { tool, turn, runs };
}

test('a shutdown before the claim hands the call over: another worker runs it', async () => {
  const { tool, turn, runs } = await endedBeforeClaim();
  expect(await runTool(another(tool), { turn, ...CALL }, execution({ attempt: 2 }))).toMatchObject({
    state: 'succeeded',
  });
  expect(runs).toEqual([1]);
  expect(await results(turn)).toEqual(['receipt 1']);
});

test('of a call that a stop met before the claim the model is told that it did not run, and it counts for no limit', async () => {
  const { turn } = await endedBeforeClaim();
  const end = { turn, outcome: 'stopped', reason: null, breakdown: null } as const;
  await endTurn(store.sql, end, closeToolCall({ secrets: [] }));
  expect(await callOf(turn)).toMatchObject({ state: 'finished', outcome: 'not_run', claimedAt: null });
  expect(await results(turn)).toEqual([
    'The user stopped the turn before this call was made: it did not run. Call it again if it is still needed.',
  ]);
  const [row] = await store.sql`select tool_calls from turns where id = ${turn.turnId}`;
  expect(row).toEqual({ toolCalls: 0 });
  const { invariants } = await verify(store.sql);
  const counts = invariants.filter(({ name }) => ['usage_adds_up', 'totals_add_up'].includes(name));
  expect(counts.map(({ breaches }) => breaches)).toEqual([[], []]);
});

test('a `once` tool that began and was ended is not run again by its own worker either', async () => {
  const first = attemptToEnd();
  const { tool, turn, runs } = await publishing({
    act: async (signal) => {
      await first.hasEnded();
      signal.throwIfAborted();
    },
  });
  const dependencies = activityDependencies(store.sql, { tools: [tool] });
  const ended = expect(runTool(dependencies, { turn, ...CALL }, first.execution)).rejects.toThrow(CancelledFailure);
  await waitUntil('the tool runs', () => runs.length === 1);
  first.end();
  await ended;
  expect(await callOf(turn)).toMatchObject({ state: 'claimed' });
  expect(await runTool(dependencies, { turn, ...CALL }, execution({ attempt: 2 }))).toMatchObject({
    state: 'outcome_unknown',
  });
  expect(runs).toEqual([1]);
  expect(await results(turn)).toEqual([expect.stringMatching(/^Outcome unknown: .* died, or was lost sight of/u)]);
});

test('what a call results in that nobody was asked about waits for Postgres: it is not told as one of unknown outcome', async () => {
  const { tool, turn, runs } = await publishing();
  const full = await diskFull(store.sql);
  const asks = { ...tool, approval: true };
  const running = runTool(activityDependencies(store.sql, { tools: [asks] }), { turn, ...CALL }, execution());
  await waitUntil('the result is refused', async () => (await full.refusals()) >= 2);
  await full.end();
  expect(await running).toMatchObject({ state: 'failed' });
  expect(await results(turn)).toEqual([expect.stringMatching(/^This call needs the approval of the user/u)]);
  expect(runs).toEqual([]);
});
