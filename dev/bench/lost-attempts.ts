import type { Client } from '@temporalio/client';
import { TASK_QUEUES } from './workers/settings.ts';

export interface LostAttempts {
  /**
   * Attempts that did not end by what their activity did: Temporal gave them up, for a heartbeat that did not come or a time that
   * was over, or they failed. Where nothing fails and no worker is killed there must be none.
   */
  readonly lost: number;
  /** Activities that were looked at. */
  readonly activities: number;
}

/** Of all activities of all turns that the server knows, open or ended, in all their runs. */
export async function readLostAttempts(temporal: Client, signal: AbortSignal): Promise<LostAttempts> {
  let lost = 0;
  let activities = 0;
  const query = `TaskQueue = '${TASK_QUEUES.holdfast}'`;
  for await (const { workflowId, runId } of temporal.workflow.list({ query })) {
    signal.throwIfAborted();
    const handle = temporal.workflow.getHandle(workflowId, runId);
    const [{ events }, { raw }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
    for (const event of events ?? []) {
      if (event.activityTaskScheduledEventAttributes) activities += 1;
      if (event.activityTaskTimedOutEventAttributes) lost += 1;
      lost += Math.max(0, (event.activityTaskStartedEventAttributes?.attempt ?? 1) - 1);
    }
    // The history of an activity without an end does not tell of its attempts yet.
    for (const { attempt } of raw.pendingActivities ?? []) lost += Math.max(0, (attempt ?? 1) - 1);
  }
  return { lost, activities };
}
