import { z } from 'zod';
import { expect, test } from 'vitest';
import { closeToolCall } from '../../src/activities/tool/decisions.ts';
import { runTool } from '../../src/activities/tool/run-tool.ts';
import { textOf } from '../../src/context/log/content.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { listLateToolResults, readToolCall } from '../../src/store/attempts/tool-calls.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { useTestStore } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { CALL, toolResults, turnCalling } from './support/tool-calls.ts';

const { sql } = useTestStore();

/** A tool that hears of no end, and what lets it return or fail. */
function deafTool(timeout?: number) {
  let settle: { readonly end: (content: string) => void; readonly fail: () => void } | null = null;
  let isRunning = false;
  const tool = defineTool({
    name: 'transfer',
    description: 'Transfers.',
    input: z.object({}),
    effect: 'once',
    ...(timeout !== undefined && { timeout }),
    run: () =>
      new Promise<{ content: string }>((resolve, reject) => {
        settle = { end: (content) => resolve({ content }), fail: () => reject(new Error('too late')) };
        isRunning = true;
      }),
  });
  return {
    tool,
    isRunning: () => isRunning,
    end: (content: string) => settle?.end(content),
    fail: () => settle?.fail(),
  };
}

async function begin(deaf: ReturnType<typeof deafTool>) {
  const turn = await turnCalling(sql, deaf.tool);
  const abort = new AbortController();
  const dependencies = activityDependencies(sql, { tools: [deaf.tool] });
  const running = runTool(dependencies, { turn, ...CALL }, execution({ signal: abort.signal }));
  await waitUntil('the tool runs', () => deaf.isRunning());
  return { turn, running, abort };
}

const results = (turn: TurnReference): Promise<string[]> => toolResults(sql, turn);

const lateResults = async (turn: TurnReference): Promise<string[]> =>
  (await listLateToolResults(sql, [turn.turnId])).map(({ content }) => textOf(content));

const stop = (turn: TurnReference) =>
  endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall({ secrets: [] }));

test('what a tool that ignores a stop comes to is kept as a late result, once its call was told as of unknown outcome', async () => {
  const deaf = deafTool();
  const { turn, running, abort } = await begin(deaf);
  abort.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('tool call aborted');
  await stop(turn);
  expect(await results(turn)).toEqual([expect.stringContaining('Outcome unknown')]);
  deaf.end('sent 5 euros');
  await waitUntil('it is kept', async () => (await lateResults(turn)).length > 0);
  expect(await lateResults(turn)).toEqual(['sent 5 euros']);
  expect(await results(turn)).toHaveLength(1);
});

test('what a tool that ignores a takeover comes to is kept as the late result of its attempt', async () => {
  const deaf = deafTool();
  const { turn, running } = await begin(deaf);
  const superseded = expect(running).rejects.toMatchObject({ type: 'SupersededAttempt', nonRetryable: false });
  await runTool(activityDependencies(sql, { tools: [deaf.tool] }), { turn, ...CALL }, execution({ attempt: 2 }));
  await superseded;
  expect(await results(turn)).toEqual([expect.stringContaining('Outcome unknown')]);
  deaf.end('sent 5 euros');
  await waitUntil('it is kept', async () => (await lateResults(turn)).length > 0);
  expect(await lateResults(turn)).toEqual(['sent 5 euros']);
});

test('a tool that ignores a stop and ends before its call is closed has its result', async () => {
  const deaf = deafTool();
  const { turn, running, abort } = await begin(deaf);
  abort.abort(new Error('stopped'));
  await expect(running).rejects.toThrow('tool call aborted');
  deaf.end('sent 5 euros');
  await waitUntil('it is stored', async () => (await readToolCall(sql, { ...turn, ...CALL })).state === 'finished');
  await stop(turn);
  expect(await results(turn)).toEqual(['sent 5 euros']);
  expect(await lateResults(turn)).toEqual([]);
});

test('what a tool comes to behind its time limit is a late result, and a failure there is none', async () => {
  const [late, failing] = [deafTool(1), deafTool(1)];
  const first = await begin(late);
  const second = await begin(failing);
  expect([await first.running, await second.running]).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
  failing.fail();
  late.end('sent 5 euros');
  await waitUntil('it is kept', async () => (await lateResults(first.turn)).length > 0);
  expect(await lateResults(first.turn)).toEqual(['sent 5 euros']);
  expect(await lateResults(second.turn)).toEqual([]);
  expect(await results(first.turn)).toEqual([expect.stringContaining('It did not react, so it may still go on.')]);
});
