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

/** A row that a strike leaves open: only these may end as unknown, or be paid again. */
export interface OpenRow {
  readonly key: string;
  readonly conversationId: string;
}

export interface OpenRows {
  /** `turn:call:index` of claimed tool calls. */
  readonly toolCalls: readonly OpenRow[];
  /** `turn:call` of model calls under way, `compaction:part` of summaries. */
  readonly modelCalls: readonly OpenRow[];
}

export async function readOpenRows(database: Database): Promise<OpenRows> {
  const [toolCalls, modelCalls] = await Promise.all([
    database<OpenRow[]>`
      select turn_id || ':' || call_number || ':' || call_index as key, conversation_id as "conversationId"
      from tool_calls where state = 'claimed'`,
    database<OpenRow[]>`
      select turn_id || ':' || call_number as key, conversation_id as "conversationId"
      from model_calls where state = 'registered'
      union all
      select p.compaction_id || ':' || p.number, c.conversation_id
      from compaction_parts p join compactions c on c.id = p.compaction_id
      where p.unreported_tries > 0 and p.state = 'planned'`,
  ]);
  return { toolCalls: [...toolCalls], modelCalls: [...modelCalls] };
}
