import { z } from 'zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
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

type Limits = NonNullable<NonNullable<HarnessOptions['agent']>['limits']>;

/** Agents by what they are limited to. */
const LIMITS = {
  steps: { steps: 5, conversation: { toolCalls: 7 } },
  questions: { toolCalls: 2 },
  calls: { conversation: { toolCalls: 4 } },
  slow: { wallTime: 2 },
  idle: { idleTime: 8 },
  // Also a slow machine takes no longer for a step.
  asking: { idleTime: 25 },
  long: { conversation: { wallTime: 60 } },
  patient: { idleTime: 300 },
  minute: { wallTime: 60 },
} as const satisfies Readonly<Record<string, Limits>>;

let server: Awaited<ReturnType<typeof startTestTemporal>>;
let harness: TurnHarness;
let client: TurnHarness['client'];

// Continues as new after few steps, so that every limit also holds across runs.
beforeAll(async () => {
  // Fewer events would be full before a turn waits for people, and each run would continue at once.
  server = await startTestTemporal({ suggestContinueAsNewEvents: 60 });
  const tools = ['count', 'linger', 'ask_user'];
  const agents = Object.entries(LIMITS).map(([name, limits]) => [name, { tools, limits }]);
  harness = await startTurnHarness({
    temporalAddress: server.address,
    tools: [count, linger],
    configurationFile: JSON.stringify({ agents: Object.fromEntries(agents) }),
  });
  ({ client } = harness);
  await harness.startWorker();
});

afterAll(async () => {
  await harness.stop();
  await server.stop();
});

const runTask = (task: string, agent: keyof typeof LIMITS) => harness.runTask(task, { agent });

const textsOf = async (conversationId: string): Promise<string[]> =>
  (await client.log.entries({ conversationId, limit: 500 })).items.map(
    (entry) => `${entry.kind}: ${textOf(entry.content)}`,
  );

test('a turn ends at its limit across runs, after the model was told once; resume needs a raise of it, and goes on with what was left', async () => {
  const turn = await runTask('Call count with {"n": "$index"} 8 times, one by one', 'steps');
  const { conversationId } = turn;
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'step_limit', steps: 5 });
  expect(turn.explanation).toContain('holdfast resume');
  // Visibility is written behind the workflow.
  const runs = async () => harness.temporal.workflow.count(`WorkflowId = "agent-turn:${conversationId}"`);
  await expect.poll(async () => (await runs()).count).toBeGreaterThan(1);
  const notes = (await textsOf(conversationId)).filter((text) => text.startsWith('note: [Limit]'));
  expect(notes).toEqual([expect.stringContaining('This turn has used 4 of 5 steps.')]);
  await expect(client.conversation.resume({ conversationId, raise: { cost: 1 } })).rejects.toMatchObject({
    code: 'limit_not_raised',
    message: expect.stringContaining(`"holdfast resume ${conversationId} --steps +`) as string,
  });
  const printed = await runInProcess(['resume', conversationId, '--steps', '+4', '--json'], {
    environment: harness.environment,
  });
  const { messageId } = JSON.parse(printed.stdout) as { messageId: string };
  const second = await client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 240_000 });
  expect(second).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_tool_call_limit', steps: 2 });
  const third = await client.conversation.resume({ conversationId, raise: { toolCalls: 10 } });
  expect(await client.conversation.outcome({ ...third, timeoutMilliseconds: 240_000 })).toMatchObject({
    outcome: 'completed',
  });
  const texts = await textsOf(conversationId);
  expect(texts.filter((text) => text.startsWith('tool_result: counted'))).toHaveLength(8);
  await expect(client.conversation.resume({ conversationId })).rejects.toMatchObject({ code: 'nothing_to_resume' });
});

test('people are asked about as many calls of an answer as the turn has left, and all that they answered counts', async () => {
  const question = (text: string): string => `ask_user with {"question": "${text}"}`;
  const sent = await client.start(`Call count with {"n": 1} and ${question('Which?')} and ${question('Why?')}`, {
    agent: 'questions',
  });
  const { conversationId } = sent;
  const waiting = async (): Promise<number> => (await client.conversation.get({ conversationId })).waitingCalls.length;
  await expect.poll(waiting).toBe(1);
  await client.decisions.answer({ conversationId, text: 'this one' });
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'tool_call_limit' });
  const decisions = await harness.database`select state from decisions where conversation_id = ${conversationId}`;
  expect(decisions.map(({ state }) => state as string)).toEqual(['answered']);
});

test('of one answer only as many calls run as the conversation has left; those that did not run use up nothing', async () => {
  const { conversationId } = await runTask('Call count with {"n": "$index"} 2 times', 'calls');
  const counted = async (): Promise<number> =>
    (await textsOf(conversationId)).filter((text) => text.startsWith('tool_result: counted')).length;
  const second = await harness.runTask('Call count with {"n": "$index"} 5 times', { conversationId });
  expect(second).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_tool_call_limit', steps: 1 });
  expect(await counted()).toBe(4);
  expect((await textsOf(conversationId)).filter((text) => text.includes('it did not run'))).toHaveLength(3);
  const sent = await client.conversation.send({ conversationId, content: 'Say on', mode: 'queue' });
  const third = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(third).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_tool_call_limit', steps: 0 });
  expect(third).toMatchObject({ explanation: expect.stringContaining('--tool-calls +100') as string });
  const raised = await client.conversation.resume({ conversationId, raise: { toolCalls: 1 } });
  expect(await client.conversation.outcome({ ...raised, timeoutMilliseconds: 240_000 })).toMatchObject({
    outcome: 'completed',
  });
});

test('a turn that takes too long, or in which nothing happens, ends what runs; waiting for a person is neither', async () => {
  const hang = 'Call linger with {}';
  const [long, quiet] = await Promise.all([runTask(hang, 'slow'), runTask(hang, 'idle')]);
  expect(long).toMatchObject({ outcome: 'budget_exhausted', reason: 'wall_time_limit' });
  expect(quiet).toMatchObject({ outcome: 'budget_exhausted', reason: 'idle_time_limit' });
  const asked = await client.start('Call ask_user with {"question": "Which?"}\nSay done', { agent: 'asking' });
  await expect
    .poll(async () => (await client.conversation.get({ conversationId: asked.conversationId })).turn?.state)
    .toBe('waiting_for_answer');
  // Where a wait counted as idleness, the timer of the limit had fired by then.
  await expect
    .poll(
      async () =>
        (
          await harness.database`
          select from decisions
          where conversation_id = ${asked.conversationId} and requested_at < now() - make_interval(secs => 25)`
        ).length,
    )
    .toBe(1);
  await client.decisions.answer({ conversationId: asked.conversationId, text: 'this' });
  expect(await client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 })).toMatchObject({
    outcome: 'completed',
  });
});

test('a tool that hangs runs no longer than the conversation may; time before the turn counts', async () => {
  const { conversationId } = await runTask('Call count with {"n": 1}', 'long');
  await harness.database`update conversations set worked_seconds = worked_seconds + 40 where id = ${conversationId}`;
  const turn = await harness.runTask('Call linger with {}', { conversationId });
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'conversation_wall_time_limit', steps: 1 });
});
