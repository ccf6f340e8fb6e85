import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client } from '@temporalio/client';

/** How often upkeep runs. A message that nobody rang for waits at most this long. */
const UPKEEP_INTERVAL = '10 seconds';

/** Also the id of the workflow that it starts. */
export function upkeepScheduleId(databaseId: string): string {
  return `holdfast-upkeep:${databaseId}`;
}

/**
 * Makes sure that the upkeep schedule of a database exists. Every worker calls it at start and again and
 * again, because a Temporal server that lost its data has lost the schedule too.
 *
 * @param databaseId identifies the database, so that two Holdfasts can share a namespace.
 */
export async function ensureUpkeepSchedule(client: Client, databaseId: string, taskQueue: string): Promise<void> {
  const scheduleId = upkeepScheduleId(databaseId);
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: UPKEEP_INTERVAL }] },
      action: {
        type: 'startWorkflow',
        workflowType: 'upkeep',
        workflowId: scheduleId,
        taskQueue,
        args: [],
        workflowRunTimeout: '2 minutes',
      },
      // A catchup window of a year, the default, would run thousands of pointless upkeeps after an outage.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
