import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';

/** The run that Temporal knows last of a workflow; `null` when it does not know the workflow. */
export async function newestRunOf(client: Client, workflowId: string): Promise<string | null> {
  return (await describeRun(client, workflowId))?.runId ?? null;
}

/** Not `PAUSED`, which an operator may end again; nor `CONTINUED_AS_NEW`: another run goes on. */
const CLOSED: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

/**
 * Whether Temporal has an open workflow with this id: one that runs, or that an operator has paused.
 * @param runId of the run that is meant. Default: the newest one
 */
export async function isWorkflowOpen(client: Client, workflowId: string, runId?: string): Promise<boolean> {
  const run = await describeRun(client, workflowId, runId);
  return run !== null && isOpenStatus(run.status.name);
}

/** @param status name of a workflow's status, as Temporal gives it */
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
