import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CrashPoint } from '../../src/activities/runtime/crash-points.ts';
import { recordWrites, writesWithoutPoint } from '../support/record-writes.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { READ } from './write-scenarios.ts';

const AGENTS = {
  small: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } },
  cowork: { model: 'simulator/sim-16k', preset: 'cowork', memory: true },
  failing: { model: 'simulator/sim-32k', fallbacks: ['simulator/sim-64k'] },
};

const recorder = recordWrites();
let harness: TurnHarness;
let worker: RunningWorker;

beforeAll(async () => {
  // What upkeep writes has a test of its own.
  harness = await startTurnHarness({
    agent: {
      model: 'simulator/sim-64k',
      allowCommands: true,
      memory: true,
      limits: { toolCalls: 7 },
      approvals: { rules: ['write_file'] },
    },
    configurationFile: JSON.stringify({ agents: AGENTS }),
  });
  for (let file = 1; file <= 25; file += 1) {
    const lines = Array.from({ length: 90 }, (_, index) => `pump ${file * 100 + index} opens at ${index + file} bar\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  worker = await harness.startWorker({ observer: recorder.observer });
});

afterAll(() => harness.stop());

async function run(agent: string, task: string): Promise<string> {
  const sent = await harness.client.start(task, { agent });
  await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 200_000 });
  return sent.conversationId;
}

/** Tools of every kind, a person's decision, a limit that is near, a fork and a stop. */
async function workWithTools(): Promise<void> {
  const { client } = harness;
  const task = [
    'Call run_command with {"command": "echo begun; sleep 1.5; echo done"}',
    'Call run_command with {"command": "seq 60000"}',
    'Call remember with {"text": "The journal is journal.txt."}',
    'Call remember with {"text": "The journal is journal.txt."}',
    'Call update_plan with {"items": [{"text": "read", "status": "pending"}]}',
    'Call write_file with {"path": "a.txt", "content": "a"}',
  ].join('\n');
  const sent = await client.start(task);
  const { conversationId } = sent;
  await waitUntil('a person is asked', async () => {
    const { turn } = await client.conversation.get({ conversationId });
    return turn?.state === 'waiting_for_approval';
  });
  await client.decisions.deny({ conversationId });
  await client.conversation.outcome({ ...sent, timeoutMilliseconds: 100_000 });
  await settled(client.branches.fork({ conversationId, entryId: null }));
  const held = await client.conversation.send({
    conversationId,
    content: 'Call run_command with {"command": "sleep 60"}',
  });
  await waitUntil('the command runs', async () => {
    const rows = await harness.database`
      select from tool_calls where conversation_id = ${conversationId} and state = 'claimed'`;
    return rows.length > 0;
  });
  await client.conversation.stop({ conversationId });
  await client.conversation.outcome({ ...held, timeoutMilliseconds: 100_000 });
}

async function settled(sending: Promise<{ readonly conversationId: string; readonly messageId: string }>) {
  return harness.client.conversation.outcome({ ...(await sending), timeoutMilliseconds: 100_000 });
}

/** What the work below comes to: without it, the test would show less than it says. */
const SEEN: readonly CrashPoint[] = [
  'beginTurn:written',
  'compactContext:limit-noted',
  'compactContext:planned',
  'compactContext:declined',
  'summarize:registered',
  'summarize:stored',
  'summarize:failed',
  'summarize:withdrawn',
  'commitCompaction:written',
  'callModel:registered',
  'callModel:stored',
  'callModel:calibrated',
  'callModel:noted',
  'callModel:failed',
  'callModel:fell-back',
  'requestDecisions:written',
  'runTool:claimed',
  'runTool:decided',
  'runTool:output-kept',
  'runTool:memory-written',
  'runTool:pieces-written',
  'runTool:stored',
  'changeBranch:registered',
  'changeBranch:written',
  'endTurn:written',
];

/** What a model can do wrong, then another model, then a compaction with nothing to do. */
async function workWithFailures(): Promise<void> {
  const match = { model: 'sim-32k' };
  await harness.fault({ kind: 'server_error', match });
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 1, match });
  await harness.fault({ kind: 'empty_answer', match });
  await harness.fault({ kind: 'cut_answer', match });
  await harness.fault({ kind: 'status', status: 404, match });
  const conversationId = await run('failing', 'Write 60 words');
  await settled(harness.client.conversation.compact({ conversationId }));
}

test('behind each write of each activity a crash point was reached, whatever it was that wrote', async () => {
  await harness.fault({ kind: 'summary_empty', times: 1, match: { model: 'sim-8k' } });
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 1, match: { model: 'sim-16k', purpose: 'summary' } });
  await Promise.all([
    workWithTools(),
    workWithFailures(),
    run('small', `${READ} 8 times, one by one`),
    run('cowork', `${READ} 22 times, one by one`),
  ]);
  // An outcome is told as soon as it is written: what comes behind it must be over.
  worker.shutdown();
  await worker.ended;
  const executions = recorder.executions();
  expect([...new Set(executions.flatMap(writesWithoutPoint))].toSorted()).toEqual([]);
  const seen = new Set(
    executions.flatMap(({ steps }) => steps.flatMap((step) => ('reached' in step ? [step.reached] : []))),
  );
  expect(SEEN.filter((point) => !seen.has(point))).toEqual([]);
});
