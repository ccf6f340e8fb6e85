import { expect, test } from 'vitest';
import { readPending } from '../../soak/open-work.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { createHoldingTool } from '../support/holding-tool.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

test('what was open when its workflow ended is open no more, though Temporal goes on listing it', async () => {
  const hold = createHoldingTool();
  const harness = await startTurnHarness({ tools: [hold.tool], agent: { tools: ['hold'] } });
  try {
    await harness.startWorker();
    const { conversationId } = await harness.client.startTask({ task: 'Call hold with {}' });
    await waitUntil('the tool is held', () => hold.begun() > 0);
    const workflowId = turnWorkflowId(conversationId);
    const open = await readPending(harness.temporal, workflowId);
    expect(open.map(({ type }) => type)).toEqual(['runTool']);
    await harness.temporal.workflow.getHandle(workflowId).terminate('test');
    expect(await readPending(harness.temporal, workflowId)).toEqual([]);
  } finally {
    hold.release();
    await harness.stop();
  }
});
