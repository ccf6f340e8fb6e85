const PREFIX = 'agent-turn:';

/** One workflow id per conversation, so Temporal allows at most one open turn of it. */
export function turnWorkflowId(conversationId: string): string {
  return `${PREFIX}${conversationId}`;
}

/** Whether a workflow is a turn, not one of the application's own. */
export function isTurnWorkflowId(workflowId: string): boolean {
  return workflowId.startsWith(PREFIX);
}
