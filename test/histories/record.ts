import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { CUT_ANSWER } from '../support/cut-answer.ts';
import { startTestTemporal } from '../support/servers.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { HarnessOptions, TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { keepRuns, removeHistories } from './kept-histories.ts';

// `npm run record-histories`: turns with real activities, each of which goes through as much as fits together.

let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  removeHistories();
  // Few, so that turns go on in new runs.
  server = await startTestTemporal({ suggestContinueAsNewEvents: 100 });
});

afterAll(() => server.stop());

let releaseHeld = (): void => undefined;
let held = 0;

const hold = defineTool({
  name: 'hold',
  description: 'Waits until it is released.',
  input: z.object({}),
  effect: 'none',
  run: async (_input, { signal }) => {
    await new Promise<void>((resolve) => {
      releaseHeld = resolve;
      held += 1;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    signal.throwIfAborted();
    return { content: 'released' };
  },
});

const isHeld = (): Promise<void> => waitUntil('the tool runs', () => held > 0);

/** Records what a conversation goes through, and keeps the histories of all runs of its turns. */
function record(
  name: string,
  agent: NonNullable<HarnessOptions['agent']>,
  scenario: (harness: TurnHarness) => Promise<{ conversationId: string }>,
): void {
  test(name, async () => {
    held = 0;
    const tools = ['hold', 'list_files', 'read_file', 'write_file', 'ask_user'];
    const harness = await startTurnHarness({
      temporalAddress: server.address,
      tools: [hold],
      agent: { tools, model: 'simulator/sim-8k', ...agent },
    });
    try {
      for (let file = 1; file <= 8; file += 1) {
        await writeFile(join(harness.workspace, `log-${file}.txt`), `pump ${file} opens at ${file} bar\n`.repeat(120));
      }
      const { conversationId } = await scenario(harness);
      await keepRuns(name, turnWorkflowId(conversationId), harness.temporal);
    } finally {
      await harness.stop();
    }
  });
}

const READ = 'Call read_file with {"path": "log-$index.txt"}';
/** Longer than an activity waits by itself. */
const RATE_LIMIT = { kind: 'rate_limit', retryAfterSeconds: 11, times: 1 };
const PATIENCE = { timeoutMilliseconds: 200_000 };

record('tools-and-compaction', {}, async (harness) => {
  await harness.startWorker();
  await harness.fault({ kind: 'overflow', times: 1, skip: 3, match: { purpose: 'agent' } });
  await harness.fault({ ...RATE_LIMIT, skip: 5, match: { purpose: 'agent' } });
  await harness.fault({ ...RATE_LIMIT, match: { purpose: 'summary' } });
  const turn = await harness.runTask(
    `Call list_files with {"path": "."} 3 times\n${READ} 6 times, one by one`,
    PATIENCE,
  );
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1 });
  expect(turn.compactions).toBeGreaterThan(1);
  return turn;
});

record('weaker-forms', {}, async (harness) => {
  await harness.startWorker();
  await harness.fault({ kind: 'summary_cut_off', times: null });
  const turn = await harness.runTask(`${READ} 5 times, one by one`, PATIENCE);
  expect(turn).toMatchObject({ outcome: 'completed' });
  return turn;
});

/** Many messages, whose summarizer reads less at once than the model: parts side by side, more than run at once, which wait. */
const PARTWISE = {
  model: 'simulator/sim-64k',
  policy: { summary: { model: 'simulator/sim-8k' } },
  limits: { idleTime: 300 },
};

record('summaries-in-parts', PARTWISE, async (harness) => {
  const { client } = harness;
  const { conversationId } = await client.start('Say ready');
  for (let message = 0; message < 22; message += 1) {
    const facts = Array.from({ length: 160 }, (_, line) => `Pump ${message}-${line} opens at ${line}.5 bar.`);
    const content = `Say ${message}. ${facts.join('\n')}`;
    await client.conversation.send({ conversationId, content, mode: 'steer' });
  }
  const asked = await client.conversation.compact({ conversationId });
  await harness.fault({ ...RATE_LIMIT, times: 12, match: { purpose: 'summary' } });
  await harness.startWorker();
  await client.conversation.outcome({ ...asked, ...PATIENCE });
  return asked;
});

const GUARDED = { approvals: { rules: [{ tool: 'write_file', when: { path: 'guarded*' } }] } };

record('messages-and-decisions', GUARDED, async (harness) => {
  const { client } = harness;
  await harness.startWorker();
  const guarded = 'Call write_file with {"path": "guarded.txt", "content": "a"}';
  const waits = async (calls: number): Promise<void> =>
    waitUntil(
      'calls wait for decisions',
      async () =>
        (await client.conversation.get({ conversationId: sent.conversationId })).waitingCalls.length === calls,
    );
  const sent = await client.start(`${guarded} and ask_user with {"question": "Which?"}`);
  const conversation = { conversationId: sent.conversationId };
  await waits(2);
  await client.conversation.send({ ...conversation, content: 'Call hold with {}' });
  await client.decisions.approve(conversation);
  await client.decisions.answer({ ...conversation, text: 'this' });
  await isHeld();
  await client.conversation.send({ ...conversation, content: guarded, mode: 'queue' });
  releaseHeld();
  await client.conversation.outcome({ ...sent, ...PATIENCE });
  await waits(1);
  await client.conversation.stop(conversation);
  return sent;
});

record('stop', {}, async (harness) => {
  await harness.startWorker();
  const sent = await harness.client.start('Call hold with {} 2 times');
  await waitUntil('both calls run', () => held === 2);
  await harness.client.conversation.stop({ conversationId: sent.conversationId });
  await harness.client.conversation.outcome({ ...sent, ...PATIENCE });
  return sent;
});

record('cancel', {}, async (harness) => {
  await harness.startWorker();
  const sent = await harness.client.start('Call hold with {}');
  await isHeld();
  await harness.temporal.workflow.getHandle(turnWorkflowId(sent.conversationId)).cancel();
  await harness.client.conversation.outcome({ ...sent, ...PATIENCE });
  return sent;
});

record('limits', { limits: { steps: 4, wallTime: 600, idleTime: 5 } }, async (harness) => {
  const { client } = harness;
  await harness.startWorker();
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 5 times, one by one');
  expect(turn.outcome).toBe('budget_exhausted');
  const { conversationId } = turn;
  await client.conversation.outcome({
    ...(await client.conversation.resume({ conversationId, raise: { steps: 10 } })),
    ...PATIENCE,
  });
  const idle = await harness.runTask('Call hold with {}', { conversationId });
  expect(idle.reason).toBe('idle_time_limit');
  return turn;
});

record('fallback-and-cut-answers', { model: 'simulator/sim-32k', fallbacks: ['simulator/sim-8k'] }, async (harness) => {
  await harness.startWorker();
  const body = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: CUT_ANSWER };
  for (const skip of [1, 2]) await harness.fault({ kind: 'status', ...body, skip, times: 1 });
  await harness.fault({ kind: 'status', status: 404, skip: 3, times: null, match: { model: 'sim-32k' } });
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 6 times, one by one');
  expect(turn).toMatchObject({ outcome: 'completed', model: 'simulator/sim-8k' });
  return turn;
});

record('change-of-branch', {}, async (harness) => {
  const { client } = harness;
  await harness.startWorker();
  const turn = await harness.runTask(`${READ} 2 times, one by one`);
  const { conversationId } = turn;
  const [first] = (await client.log.entries({ conversationId })).items;
  const forked = await client.branches.fork({ conversationId, entryId: first?.entryId ?? '' });
  await client.conversation.outcome({ ...forked, ...PATIENCE });
  await harness.runTask('Say again', { conversationId });
  return turn;
});
