import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';

/** The run that Temporal knows last of a workflow; `null` when it does not know the workflow. */
export async function newestRunOf(client: Client, workflowId: string): Promise<string | null> {
  return (await describeNewestRun(client, workflowId))?.runId ?? null;
}

/** Not `PAUSED`, which an operator may end again; nor `CONTINUED_AS_NEW`: another run goes on. */
const CLOSED: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TERMINATED', 'TIMED_OUT']);

/** Whether Temporal has an open workflow with this id: one that runs, or that an operator has paused. */
export async function isWorkflowOpen(client: Client, workflowId: string): Promise<boolean> {
  const run = await describeNewestRun(client, workflowId);
  return run !== null && isOpenStatus(run.status.name);
}

/** @param status name of a workflow's status, as Temporal gives it */
export function isOpenStatus(status: string): boolean {
  return !CLOSED.has(status);
}

async function describeNewestRun(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
