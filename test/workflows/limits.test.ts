import { z } from 'zod';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { carryOver, startProgress } from '../../src/turn/carry-over.ts';
import type { SpendingLimits } from '../../src/turn/spending.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { startTestTemporal } from '../support/servers.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { HarnessOptions, TurnHarness } from '../support/turn-harness.ts';

const count = defineTool({
  name: 'count',
  description: 'Counts.',
  input: z.object({ n: z.number() }),
  effect: 'none',
  run: ({ n }) => Promise.resolve({ content: `counted ${n}` }),
});

const linger = defineTool({
  name: 'linger',
  description: 'Takes long.',
  input: z.object({}),
  effect: 'none',
  run: async (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
});

let server: Awaited<ReturnType<typeof startTestTemporal>>;
const harnesses: TurnHarness[] = [];

// Continues as new after few steps, so that every limit also holds across runs.
beforeAll(async () => {
  server = await startTestTemporal({ suggestContinueAsNewEvents: 120 });
});

afterEach(async () => {
  await Promise.all(harnesses.splice(0).map((harness) => harness.stop()));
});

afterAll(() => server.stop());

async function start(limits: NonNullable<NonNullable<HarnessOptions['agent']>['limits']>): Promise<TurnHarness> {
  const harness = await startTurnHarness({
    temporalAddress: server.address,
    tools: [count, linger],
    agent: { tools: ['count', 'linger', 'ask_user'], limits },
  });
  harnesses.push(harness);
  await harness.startWorker();
  return harness;
}

const textsOf = async (harness: TurnHarness, conversationId: string): Promise<string[]> =>
  (await harness.client.log.entries({ conversationId, limit: 500 })).items.map(
    (entry) => `${entry.kind}: ${textOf(entry.content)}`,
  );

test('a turn ends at its limit across runs, after the model was told once; resume needs a raise of it, and goes on with what was left', async () => {
  const harness = await start({ steps: 20, conversation: { toolCalls: 26 } });
  const turn = await harness.runTask('Call count with {"n": "$index"} 30 times, one by one');
  const { conversationId } = turn;
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'step_limit', steps: 20 });
  expect(turn.explanation).toContain('holdfast resume');
  expect((await harness.temporal.workflow.count(`WorkflowId = "agent-turn:${conversationId}"`)).count).toBeGreaterThan(
    1,
  );
  const notes = (await textsOf(harness, conversationId)).filter((text) => text.startsWith('note: [Limit]'));
  expect(notes).toEqual([expect.stringContaining('This turn has used 16 of 20 steps.')]);
  await expect(harness.client.conversation.resume({ conversationId, raise: { cost: 1 } })).rejects.toMatchObject({
    code: 'limit_not_raised',
    message: expect.stringContaining(`"holdfast resume ${conversationId} --steps +`) as string,
  });
  const printed = await runInProcess(['resume', conversationId, '--steps', '+12', '--json'], {
    environment: harness.environment,
  });
  const { messageId } = JSON.parse(printed.stdout) as { messageId: string };
  const second = await harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 120_000 });
  expect(second).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_tool_call_limit', steps: 6 });
  const third = await harness.client.conversation.resume({ conversationId, raise: { toolCalls: 10 } });
  expect(await harness.client.conversation.outcome({ ...third, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'completed',
  });
  const texts = await textsOf(harness, conversationId);
  expect(texts.filter((text) => text.startsWith('tool_result: counted'))).toHaveLength(30);
  await expect(harness.client.conversation.resume({ conversationId })).rejects.toMatchObject({
    code: 'nothing_to_resume',
  });
});

test('with no worker alive a second resume is refused, the same one sent again counts once, and the turn gets one raise', async () => {
  const harness = await startTurnHarness({
    temporalAddress: server.address,
    tools: [count, linger],
    agent: { tools: ['count'], limits: { steps: 4 } },
  });
  harnesses.push(harness);
  const { client } = harness;
  const worker = await harness.startWorker();
  const { conversationId } = await harness.runTask('Call count with {"n": "$index"} 30 times, one by one');
  worker.shutdown();
  await worker.ended;
  const resume = { conversationId, raise: { steps: 3 }, messageId: `resume-${conversationId}` };
  await client.conversation.resume(resume);
  expect(await client.conversation.resume(resume)).toMatchObject({ duplicate: true });
  const second = await runInProcess(['resume', conversationId, '--steps', '+3'], { environment: harness.environment });
  expect(second.stderr).toContain('resume_waiting');
  await harness.startWorker();
  const resumed = await client.conversation.outcome({ ...resume, timeoutMilliseconds: 120_000 });
  expect(resumed).toMatchObject({ outcome: 'budget_exhausted', steps: 3 });
  expect(await client.conversation.resume(resume)).toMatchObject({ duplicate: true });
});

test('of one answer only as many calls run as the turn has left; the others say that they did not', async () => {
  const harness = await start({ toolCalls: 3 });
  const turn = await harness.runTask('Call count with {"n": "$index"} 5 times');
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'tool_call_limit' });
  const texts = await textsOf(harness, turn.conversationId);
  expect(texts.filter((text) => text.startsWith('tool_result: counted'))).toHaveLength(3);
  expect(texts.filter((text) => text.includes('it did not run'))).toHaveLength(2);
});

test('people are asked about as many calls of an answer as the turn has left, and all that they answered counts', async () => {
  const { client, database } = await start({ toolCalls: 2 });
  const question = (text: string): string => `ask_user with {"question": "${text}"}`;
  const sent = await client.start(`Call count with {"n": 1} and ${question('Which?')} and ${question('Why?')}`);
  const { conversationId } = sent;
  const waiting = async (): Promise<number> => (await client.conversation.get({ conversationId })).waitingCalls.length;
  await expect.poll(waiting, { timeout: 30_000 }).toBe(1);
  await client.decisions.answer({ conversationId, text: 'this one' });
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'tool_call_limit' });
  const decisions = await database`select state from decisions where conversation_id = ${conversationId}`;
  expect(decisions.map(({ state }) => state as string)).toEqual(['answered']);
});

test('of one answer only as many calls run as the conversation has left; those that did not run use up nothing', async () => {
  const harness = await start({ conversation: { toolCalls: 4 } });
  const { client } = harness;
  const { conversationId } = await harness.runTask('Call count with {"n": "$index"} 2 times');
  const counted = async (): Promise<number> =>
    (await textsOf(harness, conversationId)).filter((text) => text.startsWith('tool_result: counted')).length;
  const second = await harness.runTask('Call count with {"n": "$index"} 5 times', { conversationId });
  expect(second).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_tool_call_limit', steps: 1 });
  expect(await counted()).toBe(4);
  const sent = await client.conversation.send({ conversationId, content: 'Say on', mode: 'queue' });
  const third = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(third).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_tool_call_limit', steps: 0 });
  expect(third).toMatchObject({ explanation: expect.stringContaining('--tool-calls +100') as string });
  const raised = await client.conversation.resume({ conversationId, raise: { toolCalls: 1 } });
  expect(await client.conversation.outcome({ ...raised, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'completed',
  });
});

test('a conversation that rested for longer than its limit goes on only when somebody says so, and the model is not asked before', async () => {
  const harness = await start({ conversation: { idleTime: 60 } });
  const { client } = harness;
  const { conversationId } = await harness.runTask('Say first');
  const next = async (content: string) =>
    client.conversation.outcome({
      ...(await client.conversation.send({ conversationId, content, mode: 'queue' })),
      timeoutMilliseconds: 120_000,
    });
  expect(await next('Say second')).toMatchObject({ outcome: 'completed' });
  await harness.database`
    update model_attempts m set ended_at = ended_at - interval '1 hour', epoch = c.epoch
    from conversations c where c.id = m.conversation_id`;
  const asked = (await harness.asked()).total;
  for (const content of ['Say third', 'Say fourth']) {
    const rested = await next(content);
    expect(rested).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_idle_time_limit' });
    expect(rested.explanation).toMatch(/rested for longer.*--idle-time \+86400/u);
  }
  expect((await harness.asked()).total).toBe(asked);
  const resumed = await client.conversation.resume({ conversationId });
  expect(await client.conversation.outcome({ ...resumed, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'completed',
  });
});

test('a turn that takes too long, or in which nothing happens, ends what runs; waiting for a person is neither', async () => {
  const [slow, idle] = await Promise.all([start({ wallTime: 2 }), start({ idleTime: 2 })]);
  const [long, quiet] = await Promise.all([slow.runTask('Call linger with {}'), idle.runTask('Call linger with {}')]);
  expect(long).toMatchObject({ outcome: 'budget_exhausted', reason: 'wall_time_limit' });
  expect(quiet).toMatchObject({ outcome: 'budget_exhausted', reason: 'idle_time_limit' });
  const asked = await idle.client.start('Call ask_user with {"question": "Which?"}\nSay done');
  await expect
    .poll(async () => (await idle.client.conversation.get({ conversationId: asked.conversationId })).turn?.state, {
      timeout: 20_000,
    })
    .toBe('waiting_for_answer');
  // Where a wait counted as idleness, the timer of the limit had fired by then.
  await expect
    .poll(
      async () =>
        (
          await idle.database`
          select from decisions
          where conversation_id = ${asked.conversationId} and requested_at < now() - make_interval(secs => 2)`
        ).length,
      { timeout: 20_000 },
    )
    .toBe(1);
  await idle.client.decisions.answer({ conversationId: asked.conversationId, text: 'this' });
  expect(await idle.client.conversation.outcome({ ...asked, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'completed',
  });
});

test('a tool that hangs runs no longer than the conversation may; time before the turn counts', async () => {
  const harness = await start({ conversation: { wallTime: 60 } });
  const { conversationId } = await harness.runTask('Call count with {"n": 1}');
  await harness.database`update conversations set worked_seconds = worked_seconds + 56 where id = ${conversationId}`;
  const turn = await harness.runTask('Call linger with {}', { conversationId });
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_wall_time_limit', steps: 1 });
});

test('a turn is idle from its newest news on, also when that was in an earlier run', async () => {
  const { client, database, temporal, taskQueue } = await start({ idleTime: 300 });
  const sent = await client.start('Call linger with {}');
  const { conversationId } = sent;
  await expect
    .poll(async () => (await database`select from tool_calls where state = 'claimed'`).length, { timeout: 60_000 })
    .toBe(1);
  const workflow = temporal.workflow.getHandle(turnWorkflowId(conversationId));
  const [row] = await database<{ id: string; epoch: number; limits: SpendingLimits }[]>`
    select id, epoch, limits from turns where conversation_id = ${conversationId}`;
  if (row === undefined) throw new Error('the turn has no row');
  const { id: turnId, epoch, limits } = row;
  const facts = { agent: 'default', model: 'simulator/sim-32k', preset: 'default', window: 32_768 };
  const loopLimits = { repeatedCalls: 100, compactionsWithoutProgress: 10, continuations: 1 };
  const begun = {
    loopLimits,
    turn: { conversationId, turnId, epoch },
    facts,
    limits,
    stepLimit: 500,
    commandOnly: false,
  };
  const progress = startProgress({ ...begun, compactRequested: false, stopRequested: false });
  const longAgo = Date.now() - 3_600_000;
  const clock = { begunAt: longAgo, newsAt: longAgo, waited: 0 };
  await workflow.terminate();
  // As the run before would have handed it over.
  await temporal.workflow.start('agentTurn', {
    taskQueue,
    workflowId: turnWorkflowId(conversationId),
    args: [{ conversationId, carryOver: carryOver({ ...progress, clock }) }],
  });
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'idle_time_limit' });
});

test('the time of a turn in which it waits for a person is none of its wall time', async () => {
  const { client, database } = await start({ wallTime: 60 });
  const asked = await client.start('Call ask_user with {"question": "Which?"}\nSay done');
  const { conversationId } = asked;
  const state = async () => (await client.conversation.get({ conversationId })).turn?.state;
  await expect.poll(state, { timeout: 20_000 }).toBe('waiting_for_answer');
  // It waits for an hour.
  await database`
    update turns set begun_at = begun_at - interval '1 hour' where conversation_id = ${conversationId}`;
  await database`
    update decisions set requested_at = requested_at - interval '1 hour' where conversation_id = ${conversationId}`;
  await client.decisions.answer({ conversationId, text: 'this' });
  const ended = await client.conversation.outcome({ ...asked, timeoutMilliseconds: 120_000 });
  expect(ended).toMatchObject({ outcome: 'completed' });
});
