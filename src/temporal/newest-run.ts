import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';

/** The run that Temporal knows last of a workflow; `null` when it does not know the workflow. */
export async function newestRunOf(client: Client, workflowId: string): Promise<string | null> {
  return (await describeNewestRun(client, workflowId))?.runId ?? null;
}

/** Whether Temporal has an open workflow with this id. */
export async function isWorkflowOpen(client: Client, workflowId: string): Promise<boolean> {
  return (await describeNewestRun(client, workflowId))?.status.name === 'RUNNING';
}

async function describeNewestRun(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
