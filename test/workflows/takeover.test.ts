import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CrashPoint } from '../../src/activities/runtime/crash-points.ts';
import { textOf } from '../../src/context/log/content.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const FILES = 8;

let harness: TurnHarness;

beforeEach(async () => {
  harness = await startTurnHarness();
  for (let file = 1; file <= FILES; file += 1) {
    // Together more than the window of 8,192 tokens, so that the task compacts.
    const lines = Array.from(
      { length: 120 },
      (_, index) => `pump ${file * 1_000 + index} opens at ${index * 3 + file} bar\n`,
    );
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
});

afterEach(() => harness.stop());

/** Attempts that Temporal counted, by activity: the history shows that a kill hit an open one. */
async function highestAttempts(conversationId: string): Promise<Record<string, number>> {
  const { events } = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
  const names = new Map<string, string>();
  const attempts: Record<string, number> = {};
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (scheduled) names.set(String(event.eventId), scheduled);
    const started = event.activityTaskStartedEventAttributes;
    const name = names.get(String(started?.scheduledEventId)) ?? '';
    if (started) attempts[name] = Math.max(attempts[name] ?? 0, started.attempt ?? 0);
  }
  return attempts;
}

// How soon it goes on, the soak measures; the other points, `after-each-write.test.ts` looks at.
test.each<[CrashPoint, string]>([['summarize:answered', 'summarize']])(
  'killed at %s, the turn goes on on another worker, and nothing is lost or doubled',
  async (point, activity) => {
    const doomed = await startWorkerProcess(harness, { HOLDFAST_CRASH_POINTS: point });
    const sent = await harness.client.start(
      `Call read_file with {"path": "log-$index.txt"} ${FILES} times, one by one`,
      { model: 'simulator/sim-8k' },
    );
    const death = await doomed.exited;
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    const { turn } = await harness.client.conversation.get({ conversationId: sent.conversationId });
    await harness.startWorker();
    const outcome = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
    expect(outcome).toMatchObject({ outcome: 'completed', turnId: turn?.turnId, overflows: 0 });
    expect((await highestAttempts(sent.conversationId))[activity]).toBe(2);
    const { items: entries } = await harness.client.log.entries({ conversationId: sent.conversationId, limit: 1_000 });
    expect(entries.map((entry) => entry.sequence)).toEqual(entries.map((_, index) => index + 1));
    const results = entries.filter((entry) => entry.kind === 'tool_result');
    expect(results).toHaveLength(FILES);
    results.forEach((entry, index) => expect(textOf(entry.content)).toContain(`pump ${(index + 1) * 1_000 + 5} `));
  },
);

test('killed with a workflow task and a tool that runs, a worker is replaced by one that waits', async () => {
  const agents = { default: { allowCommands: true, tools: ['run_command'] } };
  await writeFile(join(harness.workspace, 'holdfast.yaml'), JSON.stringify({ agents }));
  const doomed = await startWorkerProcess(harness);
  const sent = await harness.client.start('Call run_command with {"command": "sleep 300"}');
  const { conversationId } = sent;
  const claimed = async () => (await harness.database`select from tool_calls where state = 'claimed'`).length === 1;
  await waitUntil('the tool runs', claimed);
  await harness.startWorker();
  // Frozen, it takes a task and does not answer: a kill would have to come within a few milliseconds.
  doomed.kill('SIGSTOP');
  await harness.client.conversation.send({ conversationId, content: 'Say more', mode: 'steer' });
  await waitUntil('a workflow task is with the worker', async () => isWithWorker(conversationId));
  doomed.kill('SIGKILL');
  await doomed.exited;
  const outcome = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(outcome).toMatchObject({ outcome: 'completed' });
});

async function isWithWorker(conversationId: string): Promise<boolean> {
  const { events } = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
  return (events ?? []).at(-1)?.workflowTaskStartedEventAttributes != null;
}
