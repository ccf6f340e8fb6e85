import { expect, test } from 'vitest';
import { readPending } from '../../../dev/soak/open-work.ts';
import { findUnfinished } from '../../../dev/soak/settle.ts';
import { turnWorkflowId } from '../../../src/turn/workflow-id.ts';
import { createHoldingTool } from '../../support/holding-tool.ts';
import { startTurnHarness } from '../../support/turn-harness.ts';
import { waitUntil } from '../../support/wait-until.ts';

test('what is open and what waits is seen until it goes on, and no activity of a workflow that has ended, though Temporal still lists it', async () => {
  const hold = createHoldingTool();
  const harness = await startTurnHarness({ tools: [hold.tool], agent: { tools: ['hold'] } });
  try {
    await harness.startWorker();
    const { conversationId } = await harness.client.start('Call hold with {}');
    await waitUntil('the tool is held', () => hold.begun() > 0);
    const workflowId = turnWorkflowId(conversationId);
    const open = await readPending(harness.temporal, workflowId);
    expect(open.map(({ type }) => type)).toEqual(['runTool']);
    const { messageId } = await harness.client.conversation.send({ conversationId, content: 'Wait', mode: 'queue' });
    const [held] = await findUnfinished(harness);
    // The message's ring may have begun another activity.
    expect(held?.description).toMatch(
      /: turn [-0-9a-f]+ is open; message [-0-9a-f]+ waits; .*runTool \(attempt 1\) runs/u,
    );
    expect(held?.description).toContain(`message ${messageId} waits`);
    hold.release();
    await waitUntil('the log moves', async () => (await findUnfinished(harness))[0]?.log !== held?.log);
    await waitUntil('both turns have ended', async () => (await findUnfinished(harness)).length === 0);
    await harness.client.conversation.send({ conversationId, content: 'Call hold with {}' });
    await waitUntil('the tool is held again', () => hold.begun() > 1);
    await harness.temporal.workflow.getHandle(workflowId).terminate('test');
    expect(await readPending(harness.temporal, workflowId)).toEqual([]);
  } finally {
    hold.release();
    await harness.stop();
  }
});
