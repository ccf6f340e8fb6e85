import { expect, test } from 'vitest';
import { readPending } from '../../soak/open-work.ts';
import { findUnsettled } from '../../soak/settle.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { createHoldingTool } from '../support/holding-tool.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

test('what is open and what waits is told, and what was open when its workflow ended is open no more, though Temporal goes on listing it', async () => {
  const hold = createHoldingTool();
  const harness = await startTurnHarness({ tools: [hold.tool], agent: { tools: ['hold'] } });
  try {
    await harness.startWorker();
    const { conversationId } = await harness.client.startTask({ task: 'Call hold with {}' });
    await waitUntil('the tool is held', () => hold.begun() > 0);
    const workflowId = turnWorkflowId(conversationId);
    const open = await readPending(harness.temporal, workflowId);
    expect(open.map(({ type }) => type)).toEqual(['runTool']);
    const { messageId } = await harness.client.sendMessage({ conversationId, content: 'Wait', mode: 'queue' });
    const unsettled = await findUnsettled(harness, new Date(0));
    expect(unsettled.map(({ name }) => name)).toEqual(['turn_not_settled', 'message_not_settled']);
    expect(unsettled[0]?.found).toMatch(
      / is open: [1-9]\d* entries since the last strike, runTool \(attempt 1\) runs/u,
    );
    expect(unsettled[1]?.found).toBe(`message ${messageId} of ${conversationId} waits`);
    const [standing] = await findUnsettled(harness, new Date(Date.now() + 60_000));
    expect(standing?.found).toContain('0 entries since the last strike');
    await harness.temporal.workflow.getHandle(workflowId).terminate('test');
    expect(await readPending(harness.temporal, workflowId)).toEqual([]);
  } finally {
    hold.release();
    await harness.stop();
  }
});
