/** One workflow id per conversation: Temporal then guarantees that at most one turn of it is open. */
export function turnWorkflowId(conversationId: string): string {
  return `agent-turn:${conversationId}`;
}
