import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { turnWorkflowId } from '../turn/workflow-id.ts';
import { isOpenStatus } from './newest-run.ts';

/** `PendingActivityState` of Temporal's API: STARTED, and CANCEL_REQUESTED while it runs. */
const RUNNING: ReadonlySet<unknown> = new Set([2, 3]);

/**
 * Ends the attempts of a conversation's turn that Temporal believes to run on a dead worker, so that the next ones begin at once, and frees
 * its workflow from that worker's queue. Temporal is asked which they are: it knows also those that never reached the worker.
 * @param identity of the dead worker; no other worker, not even its successor, has the same
 * @param isHeld the dead worker may have had the workflow in memory
 * @returns how many attempts were ended
 */
export async function releaseWork(
  client: Client,
  identity: string,
  { conversationId, isHeld }: { readonly conversationId: string; readonly isHeld: boolean },
): Promise<number> {
  const workflowId = turnWorkflowId(conversationId);
  try {
    const { runId, status, raw } = await client.workflow.getHandle(workflowId).describe();
    if (!isOpenStatus(status.name)) return 0;
    const lost = (raw.pendingActivities ?? []).filter(
      ({ state, lastWorkerIdentity }) => lastWorkerIdentity === identity && RUNNING.has(state),
    );
    // A worker that lives holds the others, and would have to replay them.
    if (isHeld || lost.length > 0)
      await client.workflowService.resetStickyTaskQueue({
        namespace: client.options.namespace,
        execution: { workflowId, runId },
      });
    for (const { activityId } of lost) await endAttempt(client, { workflowId, runId, activityId: activityId ?? '' });
    return lost.length;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 0;
    throw error;
  }
}

async function endAttempt(
  client: Client,
  activity: { readonly workflowId: string; readonly runId: string; readonly activityId: string },
): Promise<void> {
  // Benign: a death is no failure of the activity. Temporal fails an activity whose delay is 0.
  const failure = ApplicationFailure.create({
    type: 'WorkerLost',
    message: 'its worker died',
    nextRetryDelay: 1,
    category: ApplicationFailureCategory.BENIGN,
  });
  try {
    await client.activity.fail(activity, failure);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error;
  }
}
