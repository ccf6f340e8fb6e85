import { spawn } from 'node:child_process';
import { z } from 'zod';
import { expect, onTestFinished, test } from 'vitest';
import { closeToolCall, requestDecisions } from '../../src/activities/tool/decisions.ts';
import { runTool } from '../../src/activities/tool/run-tool.ts';
import { handOver, LackedHere } from '../../src/activities/runtime/failures.ts';
import { textOf } from '../../src/context/log/content.ts';
import { StoreError } from '../../src/store/database/errors.ts';
import { storeAnswer } from '../../src/store/attempts/model-calls.ts';
import { claimToolCall, listLateToolResults, readToolCall } from '../../src/store/attempts/tool-calls.ts';
import { idempotencyKeyOf } from '../../src/store/attempts/tool-call-rows.ts';
import { endTurn } from '../../src/store/turns/end-turn.ts';
import { getTurn } from '../../src/store/turns/turns.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { ToolContext, ToolDefinition, ToolEffect } from '../../src/tools/tool.ts';
import { findMarkedProcesses } from '../../src/tools/process/end-processes.ts';
import { toolSchema } from '../../src/tools/runtime/tool-input.ts';
import { TOOL_TIMEOUT_MARGIN_MILLISECONDS } from '../../src/turn/limits.ts';
import type { TurnReference } from '../../src/turn/turn-reference.ts';
import { answerWith, useTestStore, register, startTurn, toolCall, claimer } from '../store/support/store-builders.ts';
import { waitUntil } from '../support/wait-until.ts';
import { diskFull } from '../support/disk-full.ts';
import { activityDependencies, execution } from './support/activity-dependencies.ts';
import { CALL, toolResults, turnCalling } from './support/tool-calls.ts';

const { sql } = useTestStore();

/** A tool that notes each run and then does as told. */
function toolOf(effect: ToolEffect, act: (context: ToolContext) => Promise<void> = () => Promise.resolve()) {
  const runs: ToolContext[] = [];
  const tool = defineTool({
    name: 'act',
    description: 'Acts.',
    input: z.object({}),
    effect,
    async run(_, context) {
      runs.push(context);
      await act(context);
      return { content: `ran as attempt ${context.attempt}` };
    },
  });
  return { tool, runs };
}

/** Writes a line and goes on until it is aborted. */
async function writeAndHang({ output, signal }: ToolContext): Promise<void> {
  await output.write('half done\n');
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  signal.throwIfAborted();
}

const results = (turn: TurnReference): Promise<string[]> => toolResults(sql, turn);

test.each<[ToolEffect, string, number]>([
  ['idempotent', 'ran as attempt 2', 1],
  ['none', 'ran as attempt 2', 1],
  ['once', 'Outcome unknown: ', 0],
])('after a death a tool with the effect "%s" answers "%s…"', async (effect, answered, runsAgain) => {
  const { tool, runs } = toolOf(effect);
  const turn = await turnCalling(sql, tool);
  await claimToolCall(sql, { turn, ...CALL, ...claimer('dead') });
  await runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution({ attempt: 2 }));
  expect(await results(turn)).toEqual([expect.stringContaining(answered)]);
  expect(runs.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
    Array.from({ length: runsAgain }, () => `${turn.turnId}:1:0`),
  );
});

test('a tool learns whose conversation it serves from the start, so it can choose their credentials', async () => {
  const { tool, runs } = toolOf('none');
  const turn = await turnCalling(sql, tool);
  const { conversationId } = turn;
  const [{ tenant }] = await sql<[{ tenant: string }]>`
    update conversations set user_name = 'ann' where id = ${conversationId} returning tenant`;
  await runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution());
  expect(runs).toMatchObject([{ tenant, user: 'ann', conversationId }]);
});

test('what a call had written is told when its outcome is unknown; the worker it was taken from stops and its report is kept beside the log', async () => {
  const { tool, runs } = toolOf('once', writeAndHang);
  const turn = await turnCalling(sql, tool);
  const frozen = runTool(activityDependencies(sql, { tools: [tool], worker: 'slow' }), { turn, ...CALL }, execution());
  const failed = expect(frozen).rejects.toMatchObject({ type: 'SupersededAttempt', nonRetryable: false });
  const row = () => readToolCall(sql, { ...turn, ...CALL });
  await waitUntil('the output is noted', async () => (await row()).partialOutput !== null);
  await runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution({ attempt: 2 }));
  await failed;
  expect(await results(turn)).toEqual([
    expect.stringMatching(/^Outcome unknown: this call began at .*Until \S+ it had written 10 bytes:\nhalf done\n$/su),
  ]);
  expect(runs).toHaveLength(1);
  expect((await row()).partialOutput).toBeNull();
  const late = await listLateToolResults(sql, [turn.turnId]);
  expect(late).toMatchObject([{ attempt: 1, workerIdentity: 'slow', outcome: 'failed' }]);
  expect(textOf(late[0]?.content ?? [])).toMatch(/^half done\n\nThe call was stopped\./u);
});

test('what a call of a dead worker had written is told when a stop ends the turn', async () => {
  const { tool } = toolOf('once', writeAndHang);
  const turn = await turnCalling(sql, tool);
  const frozen = runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution());
  const failed = expect(frozen).rejects.toMatchObject({ type: 'SupersededAttempt' });
  const noted = async () => (await readToolCall(sql, { ...turn, ...CALL })).partialOutput !== null;
  await waitUntil('the output is noted', noted);
  await endTurn(sql, { turn, outcome: 'stopped', reason: null, breakdown: null }, closeToolCall({ secrets: [] }));
  await failed;
  expect(await results(turn)).toEqual([
    expect.stringMatching(/^The user stopped the turn during this call .*half done\n$/su),
  ]);
});

test('a zombie that takes a call over from the attempt that Temporal counts on does not end the turn: its next try does', async () => {
  const { tool } = toolOf('none', writeAndHang);
  const turn = await turnCalling(sql, tool);
  const living = runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution({ attempt: 2 }));
  const failed = expect(living).rejects.toMatchObject({ type: 'SupersededAttempt', nonRetryable: false });
  const row = () => readToolCall(sql, { ...turn, ...CALL });
  await waitUntil('the call is claimed', async () => (await row()).state === 'claimed');
  await claimToolCall(sql, { turn, ...CALL, ...claimer('zombie', 2) });
  await failed;
  expect(new StoreError('superseded_attempt', 'a model call too').permanent).toBe(false);
  const { tool: working } = toolOf('none');
  await runTool(activityDependencies(sql, { tools: [working] }), { turn, ...CALL }, execution({ attempt: 3 }));
  expect(await results(turn)).toHaveLength(1);
});

test.each<ToolEffect>(['once', 'none'])(
  'a zombie that wakes up before it has claimed a call with the effect "%s" leaves it to the attempt that runs it',
  async (effect) => {
    let release = (): void => undefined;
    const { tool, runs } = toolOf(effect, async () => new Promise<void>((resolve) => (release = resolve)));
    const turn = await turnCalling(sql, tool);
    const dependencies = activityDependencies(sql, { tools: [tool] });
    const living = runTool(dependencies, { turn, ...CALL }, execution({ attempt: 2 }));
    await waitUntil('the tool runs', () => runs.length === 1);
    const zombie = runTool(dependencies, { turn, ...CALL }, execution({ attempt: 1 }));
    await expect(zombie).rejects.toMatchObject({ code: 'superseded_attempt' });
    release();
    expect(await living).toMatchObject({ state: 'succeeded' });
    expect(await results(turn)).toEqual(['ran as attempt 1']);
    expect(runs).toHaveLength(1);
  },
);

test('a zombie that wakes up within a call asks in time whether the call is still its own: only its successor acts', async () => {
  const acted: number[] = [];
  let wake = (): void => undefined;
  const { tool, runs } = toolOf('idempotent', async ({ attempt, requireClaim }) => {
    if (attempt === 1) await new Promise<void>((resolve) => (wake = resolve));
    await requireClaim();
    acted.push(attempt);
  });
  const turn = await turnCalling(sql, tool);
  const dependencies = activityDependencies(sql, { tools: [tool] });
  const zombie = runTool(dependencies, { turn, ...CALL }, execution());
  const failed = expect(zombie).rejects.toMatchObject({ type: 'SupersededAttempt' });
  await waitUntil('the first attempt runs', () => runs.length === 1);
  await runTool(dependencies, { turn, ...CALL }, execution({ attempt: 2 }));
  wake();
  await failed;
  expect(acted).toEqual([2]);
  expect(await results(turn)).toEqual(['ran as attempt 2']);
});

test.each([
  ['a tool', writeAndHang],
  ['a tool that ignores it', async () => new Promise<void>(() => undefined)],
])('%s of a turn that was taken over is ended', async (_, act) => {
  const { tool, runs } = toolOf('none', act);
  const turn = await turnCalling(sql, tool);
  const replaced = runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution());
  const failed = expect(replaced).rejects.toMatchObject({ type: 'SupersededAttempt' });
  await waitUntil('the tool runs', () => runs.length === 1);
  await sql`update conversations set epoch = epoch + 1 where id = ${turn.conversationId}`;
  await failed;
  expect(await results(turn)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'what a dead worker left running of a command is ended before the model is told that the outcome is unknown',
  async () => {
    const { tool } = toolOf('once');
    const turn = await turnCalling(sql, tool);
    await claimToolCall(sql, { turn, ...CALL, ...claimer('dead') });
    const key = idempotencyKeyOf({ turn, ...CALL });
    const left = spawn('sleep', ['60'], { env: { PATH: process.env['PATH'], HOLDFAST_TOOL_CALL: key } });
    onTestFinished(() => void left.kill('SIGKILL'));
    await waitUntil('it runs', () => findMarkedProcesses(key).length === 1);
    await runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution({ attempt: 2 }));
    expect(findMarkedProcesses(key)).toEqual([]);
    expect(await results(turn)).toEqual([expect.stringMatching(/^Outcome unknown: /u)]);
  },
);

test('a tool that brought five workers down is not tried on a sixth', async () => {
  const { tool, runs } = toolOf('none');
  const turn = await turnCalling(sql, tool);
  await claimToolCall(sql, { turn, ...CALL, ...claimer('dead') });
  await sql`update tool_calls set attempt = 5 where turn_id = ${turn.turnId}`;
  const result = await runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution());
  expect(result).toMatchObject({ state: 'outcome_unknown' });
  expect(await results(turn)).toEqual([expect.stringContaining('died, 5 times in a row; it is not tried again')]);
  expect(runs).toEqual([]);
});

test('a worker of another version that lacks the tool leaves the call to others, and never runs what one of them began', async () => {
  const { tool } = toolOf('none');
  const turn = await turnCalling(sql, tool);
  const other = activityDependencies(sql);
  const attempt = (number: number) => runTool(other, { turn, ...CALL }, execution({ attempt: number }));
  await expect(attempt(1)).rejects.toMatchObject({ need: { needs: 'tool', name: 'act' } });
  expect(await readToolCall(sql, { ...turn, ...CALL })).toMatchObject({ state: 'requested', attempt: 0 });
  await claimToolCall(sql, { turn, ...CALL, ...claimer('newer') });
  await expect(attempt(99)).rejects.toMatchObject({ need: { needs: 'tool', name: 'act' } });
  expect(await results(turn)).toEqual([]);
});

test('whether a call waits for people is told by a worker that has its tool; one that lacks it leaves that to others', async () => {
  const { tool } = toolOf('none');
  const turn = await turnCalling(sql, { ...tool, approval: true });
  const asking = (tools: readonly ToolDefinition[], attempt: number) =>
    requestDecisions(
      activityDependencies(sql, { tools }),
      { turn, callNumber: 1, runnable: 9 },
      execution({ attempt }),
    );
  await expect(asking([], 99)).rejects.toMatchObject({ need: { needs: 'tool', name: 'act' } });
  expect(await sql`select from decisions where turn_id = ${turn.turnId}`).toHaveLength(0);
  // What a limit keeps from running needs no tool.
  expect(
    await requestDecisions(activityDependencies(sql), { turn, callNumber: 1, runnable: 0 }, execution()),
  ).toMatchObject({ waiting: 0 });
  expect(await asking([{ ...tool, approval: true }], 2)).toMatchObject({ waiting: 1 });
});

test('a call of a tool that nobody here has holds up no question about another call of its answer', async () => {
  const { tool } = toolOf('none');
  const asks: ToolDefinition = { ...tool, name: 'asks', approval: true };
  const turn = await startTurn(sql, 'hello', { snapshot: { tools: [toolSchema(tool), toolSchema(asks)] } });
  const calls = [toolCall(0, 'act'), toolCall(1, 'asks')];
  await storeAnswer(sql, answerWith(turn, 1, await register(sql, turn, 1), calls));
  const dependencies = activityDependencies(sql, { tools: [asks] });
  expect(await requestDecisions(dependencies, { turn, callNumber: 1, runnable: 9 }, execution())).toMatchObject({
    waiting: 1,
  });
  await sql`update decisions set state = 'approved', decided_at = now(), scope = 'call' where turn_id = ${turn.turnId}`;
  // Nobody is waited for any more: now the missing tool has its say.
  await expect(requestDecisions(dependencies, { turn, callNumber: 1, runnable: 9 }, execution())).rejects.toMatchObject(
    { need: { needs: 'tool', name: 'act' } },
  );
});

test('what a tool searches for is waited for while Postgres is away: an outage reads to no model as if nothing were there', async () => {
  const { tool } = toolOf('none', async ({ memory }) => void (await memory.search('hello', 5)));
  const turn = await turnCalling(sql, tool);
  // Indexed by the search itself, which Postgres refuses.
  const full = await diskFull(sql, 'insert on passages');
  const running = runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution());
  await waitUntil('the search is refused', async () => (await full.refusals()) >= 2);
  await full.end();
  expect(await running).toMatchObject({ state: 'succeeded' });
});

test('a result that Postgres cannot take is kept until it can: the tool acts once and its outcome is known', async () => {
  const { tool, runs } = toolOf('once');
  const turn = await turnCalling(sql, tool);
  const full = await diskFull(sql);
  const running = runTool(activityDependencies(sql, { tools: [tool] }), { turn, ...CALL }, execution());
  await waitUntil('the result is refused', async () => (await full.refusals()) >= 2);
  await full.end();
  expect(await running).toMatchObject({ state: 'succeeded' });
  expect(await results(turn)).toEqual(['ran as attempt 1']);
  expect(runs).toHaveLength(1);
});

test('a tool that has more time here than where its call was made ends before Temporal gives it up, with a result', async () => {
  const { tool, runs } = toolOf('once', writeAndHang);
  const turn = await turnCalling(sql, tool);
  const dependencies = activityDependencies(sql, { tools: [{ ...tool, timeout: 600_000 }] });
  const limited = execution({ timeLimit: TOOL_TIMEOUT_MARGIN_MILLISECONDS + 300 });
  expect(await runTool(dependencies, { turn, ...CALL }, limited)).toMatchObject({ state: 'failed' });
  expect(await results(turn)).toEqual([expect.stringContaining('The call was ended after its time limit of 0.3 s.')]);
  expect(runs).toHaveLength(1);
});

test.each([
  ['at the first attempt if no living worker has it', false, 1, 2_000],
  ['not while a living worker has it', true, 50, 100],
  ['not if the worker that has it is long busy', true, 51, 2_000],
] as const)('that a turn waits for a worker is told %s', async (_, served, attempt, nextRetryDelay) => {
  const { tool } = toolOf('none');
  const turn = await turnCalling(sql, tool);
  const dependencies = { ...activityDependencies(sql), isServed: () => Promise.resolve(served) };
  const lacked = new LackedHere({ needs: 'tool', name: 'act' });
  const of = { conversationId: turn.conversationId, turn };
  expect(await handOver(dependencies, of, attempt, lacked)).toMatchObject({ type: 'Waiting', nextRetryDelay });
  expect((await getTurn(sql, turn.turnId)).waitReason).toBe(served ? null : 'no_worker');
});
