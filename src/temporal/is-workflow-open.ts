import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';

/** Whether Temporal has an open workflow with this id. */
export async function isWorkflowOpen(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
