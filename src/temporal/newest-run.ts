import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';

/** The newest run of a workflow; `null` if Temporal does not know the workflow. */
export async function newestRunOf(client: Client, workflowId: string): Promise<string | null> {
  return (await describeRun(client, workflowId))?.runId ?? null;
}

/** Without `PAUSED`, which an operator may end, and `CONTINUED_AS_NEW`, because another run goes on. */
const CLOSED: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

/**
 * Whether Temporal has an open workflow with this id: running, or paused by an operator.
 * @param runId Default: the newest run
 */
export async function isWorkflowOpen(client: Client, workflowId: string, runId?: string): Promise<boolean> {
  const run = await describeRun(client, workflowId, runId);
  return run !== null && isOpenStatus(run.status.name);
}

/** @param status name of a workflow's status, as Temporal returns it */
export function isOpenStatus(status: string): boolean {
  return !CLOSED.has(status);
}

async function describeRun(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
