import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { startTestTemporal } from '../support/servers.ts';
import { CUT_ANSWER } from '../support/cut-answer.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { keepRuns } from './keep-runs.ts';

let server: Awaited<ReturnType<typeof startTestTemporal>>;
let harness: TurnHarness;
let release = (): void => undefined;
/** Calls of `hold` that have begun. */
let held = 0;

const hold = defineTool({
  name: 'hold',
  description: 'Waits until it is released.',
  input: z.object({}),
  effect: 'none',
  run: async (_input, { signal }) => {
    await new Promise<void>((resolve) => {
      release = resolve;
      held += 1;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    signal.throwIfAborted();
    return { content: 'released' };
  },
});

beforeAll(async () => {
  server = await startTestTemporal({ suggestContinueAsNewEvents: 120 });
  harness = await startTurnHarness({
    temporalAddress: server.address,
    tools: [hold],
    agent: { model: 'simulator/sim-8k', tools: ['hold', 'read_file', 'list_files', 'write_file', 'ask_user'],
      approvals: { rules: [{ tool: 'write_file', when: { path: 'guarded*' } }] },
    },
  });
  for (let file = 1; file <= 8; file += 1) {
    await writeFile(join(harness.workspace, `log-${file}.txt`), `pump ${file} opens at ${file} bar\n`.repeat(120));
  }
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());

afterAll(async () => {
  await harness.stop();
  await server.stop();
});

/** Keeps the histories of all runs of a conversation. */
async function keep(name: string, conversationId: string, from = harness): Promise<void> {
  await keepRuns(name, turnWorkflowId(conversationId), from.temporal);
}

const READ = 'Call read_file with {"path": "log-$index.txt"}';

test('tool calls', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "."} 3 times\nCall write_file with {"path": "a.txt", "content": "a"}');
  await keep('tool-calls', turn.conversationId);
});

test('compaction', async () => {
  const turn = await harness.runTask(`${READ} 6 times, one by one`);
  expect(turn.compactions).toBeGreaterThan(0);
  await keep('compaction', turn.conversationId);
});

test('weaker forms', async () => {
  await harness.fault({ kind: 'summary_cut_off', times: null });
  const sent = await harness.client.startTask({ task: `${READ} 5 times, one by one` });
  const turn = await harness.client.waitForOutcome(sent);
  expect(turn).toMatchObject({ outcome: 'completed', compactions: expect.any(Number) });
  await keep('weaker-forms', sent.conversationId);
}, 240_000);

test('overflow recovery', async () => {
  await harness.fault({ kind: 'overflow', times: 1, skip: 2, match: { purpose: 'agent' } });
  const turn = await harness.runTask(`${READ} 3 times, one by one`);
  expect(turn.overflows).toBe(1);
  await keep('overflow-recovery', turn.conversationId);
});

test('rate limit', async () => {
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 11, times: 1 });
  const turn = await harness.runTask('Say hello');
  await keep('rate-limit', turn.conversationId);
});

test('stop', async () => {
  const sent = await harness.client.startTask({ task: 'Call hold with {}' });
  await expect.poll(async () => (await harness.client.listEntries({ conversationId: sent.conversationId })).length).toBe(2);
  await harness.client.stop({ conversationId: sent.conversationId });
  await harness.client.waitForOutcome(sent);
  await keep('stop', sent.conversationId);
});

test('steering and queued messages', async () => {
  held = 0;
  const { conversationId } = await harness.client.startTask({ task: 'Call hold with {}' });
  await expect.poll(() => held, { timeout: 15_000 }).toBe(1);
  await harness.client.sendMessage({ conversationId, content: 'Say steered' });
  const queued = await harness.client.sendMessage({ conversationId, content: 'Say queued', mode: 'queue' });
  release();
  await harness.client.waitForOutcome({ ...queued, timeoutMilliseconds: 120_000 });
  await keep('messages', conversationId);
});

test('continue as new inside a turn', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 12 times, one by one');
  await keep('continue-as-new', turn.conversationId);
});

test('approval and question', async () => {
  const { client } = harness;
  const sent = await client.startTask({
    task: 'Call write_file with {"path": "guarded.txt", "content": "a"} and ask_user with {"question": "Which?"}',
  });
  const { conversationId } = sent;
  await expect
    .poll(async () => (await client.getConversation(conversationId)).waitingCalls.length, { timeout: 15_000 })
    .toBe(2);
  await client.sendMessage({ conversationId, content: 'Say steered' });
  await client.approve({ conversationId });
  await client.answer({ conversationId, text: 'this' });
  await client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  await keep('approval-and-question', conversationId);
});

test('stop while a call waits for approval', async () => {
  const { client } = harness;
  const sent = await client.startTask({ task: 'Call write_file with {"path": "guarded.txt", "content": "a"}' });
  const { conversationId } = sent;
  await expect
    .poll(async () => (await client.getConversation(conversationId)).waitingCalls.length, { timeout: 15_000 })
    .toBe(1);
  await client.stop({ conversationId });
  await client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  await keep('stop-while-waiting', conversationId);
});

test('limits and resume', async () => {
  const limited = await startTurnHarness({
    temporalAddress: server.address,
    tools: [hold],
    agent: { tools: ['hold', 'list_files'], limits: { steps: 4, wallTime: 600, idleTime: 5 } },
  });
  try {
    await limited.startWorker();
    const turn = await limited.runTask('Call list_files with {"path": "missing-$index"} 5 times, one by one');
    expect(turn.outcome).toBe('budget_exhausted');
    const { conversationId } = turn;
    const resumed = await limited.client.resume({ conversationId, raise: { steps: 10 } });
    await limited.client.waitForOutcome({ ...resumed, timeoutMilliseconds: 120_000 });
    await keep('limits', conversationId, limited);
    const idle = await limited.runTask('Call hold with {}');
    expect(idle.reason).toBe('idle_time_limit');
    await keep('idle-time', idle.conversationId, limited);
  } finally {
    await limited.stop();
  }
});

test('cut answers between tool calls that tell nothing new', async () => {
  const answer = { kind: 'status', status: 200, headers: { 'content-type': 'text/event-stream' }, body: CUT_ANSWER };
  for (const skip of [1, 2, 3, 4]) await harness.fault({ ...answer, skip, times: 1 });
  const turn = await harness.runTask('Call list_files with {"path": "missing"} 12 times, one by one');
  expect(turn).toMatchObject({ outcome: 'completed', reason: 'answer_cut', steps: 8 });
  await keep('continuations', turn.conversationId);
});

test('a limit of idleness that goes on in the next run', async () => {
  const patient = await startTurnHarness({
    temporalAddress: server.address,
    agent: { tools: ['list_files'], limits: { idleTime: 300 } },
  });
  try {
    await patient.startWorker();
    const turn = await patient.runTask('Call list_files with {"path": "missing-$index"} 12 times, one by one');
    expect(turn.outcome).toBe('completed');
    await keep('idle-across-runs', turn.conversationId, patient);
  } finally {
    await patient.stop();
  }
});

test('fallback', async () => {
  const fallible = await startTurnHarness({
    temporalAddress: server.address,
    agent: { tools: ['list_files'], fallbacks: ['simulator/sim-8k'] },
  });
  try {
    await fallible.startWorker();
    await fallible.fault({ kind: 'status', status: 404, skip: 1, times: null, match: { model: 'sim-32k' } });
    const turn = await fallible.runTask('Call list_files with {"path": "missing-$index"} 3 times, one by one');
    expect(turn).toMatchObject({ outcome: 'completed', model: 'simulator/sim-8k' });
    await keep('fallback', turn.conversationId, fallible);
  } finally {
    await fallible.stop();
  }
});

test('change of branch', async () => {
  const { client } = harness;
  const turn = await harness.runTask(`${READ} 2 times, one by one`);
  const { conversationId } = turn;
  const [first] = await client.listEntries({ conversationId });
  const forked = await client.fork({ conversationId, entryId: first?.entryId ?? '' });
  await client.waitForOutcome({ ...forked, timeoutMilliseconds: 120_000 });
  const again = await client.sendMessage({ conversationId, content: 'Say again' });
  await client.waitForOutcome({ ...again, timeoutMilliseconds: 120_000 });
  await keep('change-of-branch', conversationId);
});

test('a turn that goes on in a new run before the server suggests it', async () => {
  const plain = await startTestTemporal();
  const patient = await startTurnHarness({ temporalAddress: plain.address, agent: { tools: ['list_files'] } });
  try {
    await patient.startWorker();
    const turn = await patient.runTask('Call list_files with {"path": "missing-$index"} 60 times, one by one');
    await keep('long-run', turn.conversationId, patient);
  } finally {
    await patient.stop();
    await plain.stop();
  }
});

test('a summary that waits for a rate limit', async () => {
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 11, times: 1, match: { purpose: 'summary' } });
  const turn = await harness.runTask(`${READ} 6 times, one by one`);
  await keep('summary-rate-limit', turn.conversationId);
});

test('upkeep', async () => {
  const workflowId = 'recorded-upkeep';
  await harness.temporal.workflow.start('upkeep', { workflowId, taskQueue: harness.taskQueue });
  await keepRuns('upkeep', workflowId, harness.temporal);
});
