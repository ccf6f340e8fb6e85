import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';

/** An activity or a task of the workflow that Temporal believes to run. */
export interface OpenActivity {
  readonly workflowId: string;
  /** Ids of activities begin anew in each run. */
  readonly runId: string;
  readonly activityId: string;
  readonly type: string;
  readonly attempt: number;
  readonly workerIdentity: string;
}

/** `PendingActivityState.STARTED` and `PendingWorkflowTaskState.STARTED` of Temporal's API. */
export const STARTED = 2;

/** Activities and workflow tasks of the conversations' turns that have started, as Temporal tells. */
export async function readOpenActivities(
  temporal: Client,
  conversationIds: readonly string[],
): Promise<OpenActivity[]> {
  const found = await Promise.all(conversationIds.map((id) => readPending(temporal, turnWorkflowId(id))));
  return found.flat().flatMap(({ state, ...activity }) => (state === STARTED ? [activity] : []));
}

export interface PendingActivity extends OpenActivity {
  readonly state: number;
}

/** Activities of a workflow that are scheduled or started, and its own task. Local activities run within that. */
export async function readPending(temporal: Client, workflowId: string): Promise<PendingActivity[]> {
  try {
    const handle = temporal.workflow.getHandle(workflowId);
    const { raw, runId, status } = await handle.describe();
    // Temporal goes on listing what was open when a workflow ended: nobody waits for that.
    if (status.name !== 'RUNNING') return [];
    const activities = (raw.pendingActivities ?? []).map((pending) => ({
      workflowId,
      runId,
      activityId: pending.activityId ?? '',
      type: pending.activityType?.name ?? '',
      attempt: pending.attempt ?? 1,
      workerIdentity: pending.lastWorkerIdentity ?? '',
      state: pending.state ?? 0,
    }));
    const { pendingWorkflowTask: task } = raw;
    if (!task) return activities;
    const state: number = task.state ?? 0;
    const { seconds, nanos } = task.originalScheduledTime ?? {};
    const ofWorkflow = {
      workflowId,
      runId,
      // Once Temporal gives it up, another one follows with a time of its own.
      activityId: `workflow task of ${String(seconds)}.${String(nanos)}`,
      type: 'workflow task',
      attempt: Number(task.attempt),
      workerIdentity: state === STARTED ? await readTaskHolder(handle) : '',
      state,
    };
    return [...activities, ofWorkflow];
  } catch (error) {
    // Its doorbell has not rung yet.
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}

/** Whom Temporal gave the newest task of the workflow. */
async function readTaskHolder(handle: WorkflowHandle): Promise<string> {
  const { events } = await handle.fetchHistory();
  const newest = events?.findLast(({ workflowTaskStartedEventAttributes: started }) => started);
  return newest?.workflowTaskStartedEventAttributes?.identity ?? '';
}
