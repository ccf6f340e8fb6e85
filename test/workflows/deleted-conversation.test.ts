import { afterAll, beforeAll, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness();
});
afterAll(() => harness.stop());

test('a workflow whose conversation was deleted before its first turn ends without a failure, and deleting names it', async () => {
  const { conversationId } = await harness.client.startTask({ task: 'Say nothing.' });
  const second = await harness.client.startTask({ task: 'Say nothing.' });
  const workflowId = turnWorkflowId(conversationId);
  const handle = harness.temporal.workflow.getHandle(workflowId);
  await expect.poll(async () => (await handle.describe().catch(() => null))?.status.name).toBe('RUNNING');
  expect(await harness.client.deleteConversation(conversationId)).toEqual([{ workflowId, runId: null }]);
  const deleted = await runInProcess(['delete', second.conversationId, '--yes'], { environment: harness.environment });
  expect(deleted.stdout).toContain('It had no turn.');
  expect(deleted.stdout).toContain(`'WorkflowId = "${turnWorkflowId(second.conversationId)}"'`);
  await harness.startWorker();
  await handle.result();
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});
