import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

let harness: TurnHarness;

beforeEach(async () => {
  harness = await startTurnHarness();
});

afterEach(() => harness.stop());

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
  // Any signal makes a workflow task; a message to an open turn makes none.
  await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).signal('unheard');
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
