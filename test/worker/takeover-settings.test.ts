import { Worker } from '@temporalio/worker';
import { expect, onTestFinished, test, vi } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { startTurnHarness } from '../support/turn-harness.ts';

/** Milliseconds of a duration as Temporal's histories have it. */
function milliseconds(duration: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(duration?.seconds ?? 0) * 1_000 + (duration?.nanos ?? 0) / 1_000_000;
}

// Each shortens the time until another worker goes on; what one of them costs alone, a test of time may not show.
test('workers and turns have the settings by which a turn is soon taken over from a worker that died', async () => {
  const created = vi.spyOn(Worker, 'create');
  onTestFinished(() => created.mockRestore());
  const harness = await startTurnHarness();
  onTestFinished(() => harness.stop());
  await harness.startWorker();
  expect(created).toHaveBeenCalledTimes(2);
  for (const [options] of created.mock.calls) {
    expect(options).toMatchObject({
      stickyQueueScheduleToStartTimeout: '1 second',
      maxHeartbeatThrottleInterval: '5 seconds',
      defaultHeartbeatThrottleInterval: '5 seconds',
    });
  }
  const { conversationId } = await harness.runTask('Call write_file with {"path": "a.txt", "content": "a"}');
  const { events } = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
  const [started] = events ?? [];
  expect(milliseconds(started?.workflowExecutionStartedEventAttributes?.workflowTaskTimeout)).toBe(5_000);
  const activities = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: one }) => one ?? []);
  expect(activities.map(({ activityType }) => activityType?.name)).toEqual(
    expect.arrayContaining(['beginTurn', 'callModel', 'runTool', 'endTurn']),
  );
  for (const { heartbeatTimeout, retryPolicy } of activities) {
    expect(milliseconds(heartbeatTimeout)).toBe(20_000);
    expect(milliseconds(retryPolicy?.initialInterval)).toBe(200);
    expect(retryPolicy?.backoffCoefficient).toBe(1);
  }
});
