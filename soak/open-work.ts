import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Database } from '../src/store/database.ts';
import { turnWorkflowId } from '../src/temporal/names.ts';

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
const STARTED = 2;

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
    const { raw, runId } = await temporal.workflow.getHandle(workflowId).describe();
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

/** Rows that a strike at this moment leaves open: only these may end as unknown, or be paid again. */
export interface OpenRows {
  /** `turn:call:index` of claimed tool calls. */
  readonly toolCalls: readonly string[];
  /** `turn:call` of model calls under way, `compaction:part` of summaries. */
  readonly modelCalls: readonly string[];
}

export async function readOpenRows(database: Database): Promise<OpenRows> {
  const [tools, models] = await Promise.all([
    database<{ key: string }[]>`
      select turn_id || ':' || call_number || ':' || call_index as key from tool_calls where state = 'claimed'`,
    database<{ key: string }[]>`
      select turn_id || ':' || call_number as key from model_calls where state = 'registered'
      union all
      select compaction_id || ':' || number from compaction_parts where unreported_tries > 0 and state = 'planned'`,
  ]);
  return { toolCalls: tools.map(({ key }) => key), modelCalls: models.map(({ key }) => key) };
}
