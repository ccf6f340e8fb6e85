import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../../src/store/database/database.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';

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

/** Activities that ask a model. */
export const MODEL_ACTIVITIES: ReadonlySet<string> = new Set(['callModel', 'summarize', 'changeBranch']);

/** An attempt of an activity, as rows name the one that registered them. */
export type Attempt = Pick<OpenActivity, 'runId' | 'activityId' | 'attempt'>;

/** A summary that is being written: its row knows the newest try only. */
export interface OpenSummary extends Attempt {
  /** `compaction:part`, or `turn:branch` of a branch summary. */
  readonly key: string;
}

export function readOpenSummaries(database: Database): Promise<readonly OpenSummary[]> {
  return database<OpenSummary[]>`
    select distinct on (key) coalesce(compaction_id || ':' || part, turn_id || ':branch') as key,
      (registered_by).run_id as "runId", (registered_by).activity_id as "activityId", (registered_by).attempt
    from model_attempts m where purpose <> 'step' and state = 'registered' order by key, m.attempt desc`;
}
