import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { turnWorkflowId } from '../turn/temporal-names.ts';
import { isOpenStatus } from './newest-run.ts';

/** `PendingActivityState` of Temporal's API: STARTED, or CANCEL_REQUESTED while running. */
const RUNNING: ReadonlySet<unknown> = new Set([2, 3]);

/**
 * Ends the attempts of a turn that Temporal believes to run on a dead worker, so that the next attempts begin at once. Frees the workflow
 * from that worker's queue. Asks Temporal for the attempts, because it also knows those that never reached the worker.
 * @param identity of the dead worker; unique, even its restart has another one
 * @returns how many attempts were ended
 */
export async function releaseWork(client: Client, identity: string, conversationId: string): Promise<number> {
  const workflowId = turnWorkflowId(conversationId);
  try {
    const { runId, status, raw } = await client.workflow.getHandle(workflowId).describe();
    if (!isOpenStatus(status.name)) return 0;
    const lost = (raw.pendingActivities ?? []).filter(
      ({ state, lastWorkerIdentity }) => lastWorkerIdentity === identity && RUNNING.has(state),
    );
    // Any other workflow may be held by a living worker, which would have to replay it.
    if (lost.length === 0) return 0;
    const { namespace } = client.options;
    await client.workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId, runId } });
    for (const { activityId } of lost) {
      // Benign, because a worker's death is no failure of the activity. Temporal fails an activity whose delay is 0.
      const failure = ApplicationFailure.create({
        type: 'WorkerLost',
        message: 'its worker died',
        nextRetryDelay: 1,
        category: ApplicationFailureCategory.BENIGN,
      });
      await client.activity.fail({ workflowId, runId, activityId: activityId ?? '' }, failure).catch(unlessGone);
    }
    return lost.length;
  } catch (error) {
    unlessGone(error);
    return 0;
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError || error instanceof ActivityNotFoundError)) throw error;
}
