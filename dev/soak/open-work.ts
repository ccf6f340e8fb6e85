import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';

/** An activity that Temporal believes to run. */
export interface OpenActivity {
  readonly workflowId: string;
  /** Ids of activities begin anew in each run. */
  readonly runId: string;
  readonly activityId: string;
  readonly type: string;
  readonly attempt: number;
  readonly workerIdentity: string;
}

/** `PendingActivityState.STARTED` of Temporal's API. */
export const STARTED = 2;

/** All activities of the conversations' turns that have started, as Temporal tells. */
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

/** Activities of a workflow that are scheduled or started. */
export async function readPending(temporal: Client, workflowId: string): Promise<PendingActivity[]> {
  try {
    const { raw, runId, status } = await temporal.workflow.getHandle(workflowId).describe();
    // Temporal goes on listing what was open when a workflow ended: nobody waits for that.
    if (status.name !== 'RUNNING') return [];
    return (raw.pendingActivities ?? []).map((pending) => ({
      workflowId,
      runId,
      activityId: pending.activityId ?? '',
      type: pending.activityType?.name ?? '',
      attempt: pending.attempt ?? 1,
      workerIdentity: pending.lastWorkerIdentity ?? '',
      state: pending.state ?? 0,
    }));
  } catch (error) {
    // Its doorbell has not rung yet.
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}
