import type { Client } from '@temporalio/client';
import { turnWorkflowId } from '../turn/temporal-names.ts';

/** Starts the conversation's turn or signals the open one. Summary and details name only the conversation. */
export async function ringDoorbell(client: Client, taskQueue: string, conversationId: string): Promise<void> {
  await client.workflow.signalWithStart('agentTurn', {
    workflowId: turnWorkflowId(conversationId),
    taskQueue,
    args: [{ conversationId }],
    signal: 'doorbell',
    signalArgs: [],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    // Measured: with the default of 10 s, a task handed to a dying worker costs a takeover 5 s more. Below 5 s long histories cannot
    // replay in time.
    workflowTaskTimeout: '5 seconds',
    staticSummary: `conversation ${conversationId}`,
    staticDetails: `Turn of conversation \`${conversationId}\`. Messages, originals and summaries are in Postgres: \`holdfast show ${conversationId}\`.`,
  });
}
