import { ScheduleNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { readDatabaseId } from '../../src/store/database-id.ts';
import type { Database } from '../../src/store/database.ts';
import { upkeepScheduleId } from '../../src/worker/upkeep-schedule.ts';

/** It would go on starting a workflow every ten seconds on a server that all test files share. */
export async function deleteUpkeepSchedule(temporal: Client, database: Database): Promise<void> {
  try {
    await temporal.schedule.getHandle(upkeepScheduleId(await readDatabaseId(database))).delete();
  } catch (error) {
    // No worker was started.
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/** A schedule that never fires, made before any worker starts: workers keep one that exists, with its pause. */
export async function createPausedUpkeepSchedule(
  temporal: Client,
  { database, taskQueue }: { readonly database: Database; readonly taskQueue: string },
): Promise<void> {
  const scheduleId = upkeepScheduleId(await readDatabaseId(database));
  await temporal.schedule.create({
    scheduleId,
    spec: {},
    action: { type: 'startWorkflow', workflowType: 'upkeep', workflowId: scheduleId, taskQueue, args: [] },
    state: { paused: true },
  });
}
