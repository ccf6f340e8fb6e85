import { expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { startCli } from '../cli/run-cli.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Without a worker: its turns would end before they are deleted. */
const harness = useTurnHarness();

/** Resolves when nothing more comes. */
async function readAll(updates: AsyncIterable<unknown>): Promise<void> {
  for await (const _update of updates);
}

test('whoever watches or waits for a conversation that is deleted is told so', async () => {
  const { client } = harness;
  const sent = await client.start('Say nothing.');
  const { conversationId } = sent;
  const watching = readAll(client.conversation.watch({ conversationId, afterSequence: 7 }));
  const waiting = client.conversation.outcome(sent);
  const told = Promise.allSettled([watching, waiting]);
  const command = startCli(['watch', conversationId], { environment: harness.environment });
  await waitUntil('client and command listen', async () => {
    const listening = await harness.database`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'holdfast-client' and query ilike 'listen%'`;
    return listening.length >= 2;
  });
  await client.conversation.delete({ conversationId });
  const gone = expect.objectContaining({ code: 'conversation_not_found' }) as unknown;
  expect(await told).toEqual([
    { status: 'rejected', reason: gone },
    { status: 'rejected', reason: gone },
  ]);
  const { code, stderr } = await command.ended;
  expect([code, stderr]).toEqual([2, expect.stringContaining(`there is no conversation "${conversationId}"`)]);
});

test('a workflow whose conversation was deleted before its first turn ends without a failure, and deleting names it', async () => {
  const { conversationId } = await harness.client.start('Say nothing.');
  const second = await harness.client.start('Say nothing.');
  const workflowId = turnWorkflowId(conversationId);
  const handle = harness.temporal.workflow.getHandle(workflowId);
  await expect.poll(async () => (await handle.describe().catch(() => null))?.status.name).toBe('RUNNING');
  expect(await harness.client.conversation.delete({ conversationId })).toEqual([{ workflowId, runId: null }]);
  const deleted = await runInProcess(['delete', second.conversationId, '--yes'], { environment: harness.environment });
  expect(deleted.stdout).toContain('Temporal may keep histories of its turns, without text.');
  expect(deleted.stdout).toContain(`'WorkflowId = "${turnWorkflowId(second.conversationId)}"'`);
  await harness.startWorker();
  await handle.result();
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});
