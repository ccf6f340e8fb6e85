import type { Client } from '@temporalio/client';
import { TASK_QUEUES } from './workers/settings.ts';

/** The part of an event of a history that tells how an activity went. */
export interface ActivityEvent {
  readonly activityTaskStartedEventAttributes?: { readonly attempt?: number | null } | null;
  readonly activityTaskTimedOutEventAttributes?: object | null;
}

/** An activity without an end: its history does not tell of its attempts yet. */
export interface UnendedActivity {
  readonly attempt?: number | null;
}

/**
 * Attempts that did not end by what their activity did: Temporal gave them up, for a heartbeat that did not come or a time that
 * was over, or they failed. Where nothing fails and no worker is killed there must be none.
 */
export function countLostAttempts(events: readonly ActivityEvent[], unended: readonly UnendedActivity[]): number {
  const again = ({ attempt }: UnendedActivity): number => Math.max(0, (attempt ?? 1) - 1);
  return events
    .map(
      ({ activityTaskStartedEventAttributes: started, activityTaskTimedOutEventAttributes: timedOut }) =>
        (started ? again(started) : 0) + (timedOut ? 1 : 0),
    )
    .concat(unended.map(again))
    .reduce((sum, lost) => sum + lost, 0);
}

export interface LostAttempts {
  readonly lost: number;
  /** Activities that were looked at. */
  readonly activities: number;
}

/** Of all activities of all turns that the server knows, open or ended, in all their runs. */
export async function readLostAttempts(temporal: Client, signal: AbortSignal): Promise<LostAttempts> {
  let lost = 0;
  let activities = 0;
  for await (const { workflowId, runId } of temporal.workflow.list({
    query: `TaskQueue = '${TASK_QUEUES.holdfast}'`,
  })) {
    signal.throwIfAborted();
    const handle = temporal.workflow.getHandle(workflowId, runId);
    const [{ events }, { raw }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
    lost += countLostAttempts(events ?? [], raw.pendingActivities ?? []);
    activities += (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes).length;
  }
  return { lost, activities };
}
