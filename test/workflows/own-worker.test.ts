import { expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { useTurnHarness } from '../support/turn-harness.ts';

const harness = useTurnHarness({ agent: { tools: ['list_files'] } });

test('model calls and tools begin on the worker of their workflow, without a poll, and other workers stand by', async () => {
  await harness.startWorker();
  await harness.startWorker();
  const { conversationId } = await harness.runTask('Call list_files with {} 6 times, one by one');
  const { events } = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
  const all = events ?? [];
  const numbered = new Map(all.map((event) => [String(event.eventId), event]));
  const workers = all.flatMap(({ activityTaskStartedEventAttributes: started }) => {
    const scheduled = numbered.get(String(started?.scheduledEventId))?.activityTaskScheduledEventAttributes;
    const decided = numbered.get(String(scheduled?.workflowTaskCompletedEventId))?.workflowTaskCompletedEventAttributes;
    const type = scheduled?.activityType?.name;
    return type === 'callModel' || type === 'runTool' ? [[decided?.identity, started?.identity]] : [];
  });
  expect(workers).toHaveLength(13);
  for (const [ofWorkflow, ofCall] of workers) expect(ofCall).toBe(ofWorkflow);
});
