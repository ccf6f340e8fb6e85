import { ScheduleNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { upkeepScheduleId } from '../../src/worker/upkeep-schedule.ts';

/** It would go on starting a workflow every ten seconds on a server that all test files share. */
export async function deleteUpkeepSchedule(temporal: Client, taskQueue: string): Promise<void> {
  try {
    await temporal.schedule.getHandle(upkeepScheduleId(taskQueue)).delete();
  } catch (error) {
    // No worker was started.
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/** A schedule that never fires, made before any worker starts: workers keep one that exists, with its pause. */
export async function createPausedUpkeepSchedule(temporal: Client, taskQueue: string): Promise<void> {
  const scheduleId = upkeepScheduleId(taskQueue);
  await temporal.schedule.create({
    scheduleId,
    spec: {},
    action: { type: 'startWorkflow', workflowType: 'upkeep', workflowId: scheduleId, taskQueue, args: [] },
    state: { paused: true },
  });
}
