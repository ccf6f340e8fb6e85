const TURN_PREFIX = 'agent-turn';
const DATABASE_PREFIX = 'agent-database';

/** Workflows, model calls and tools. Temporal hands these calls to the worker of their workflow without a detour through a poll. */
export const DEFAULT_TURN_TASK_QUEUE = TURN_PREFIX;

/** One workflow id per conversation, so Temporal allows at most one open turn of it. */
export function turnWorkflowId(conversationId: string): string {
  return `${TURN_PREFIX}:${conversationId}`;
}

/** Whether a workflow is a turn, not one of the application's own. */
export function isTurnWorkflowId(workflowId: string): boolean {
  return workflowId.startsWith(`${TURN_PREFIX}:`);
}

/** Activities of the turn queue; all others are on the database queue. */
export type WorkActivity = 'askHooks' | 'summarize' | 'callModel' | 'runTool';

/**
 * The queue of a turn queue's database activities, which stays fast, so a hundred waiting model calls never delay a stop: `agent-turn` →
 * `agent-database`, `agent-turn-blue` → `agent-database-blue`, `mine` → `mine-database`. It is derived, so a workflow needs no setting
 * for it.
 */
export function databaseTaskQueueFor(turnTaskQueue: string): string {
  if (!turnTaskQueue.startsWith(TURN_PREFIX)) return `${turnTaskQueue}-database`;
  return DATABASE_PREFIX + turnTaskQueue.slice(TURN_PREFIX.length);
}

/** Search attributes of a run, all keywords. They are set at its start and on a change of state only. */
export const SEARCH_ATTRIBUTE_NAMES = {
  conversation: 'HoldfastConversation',
  agent: 'HoldfastAgent',
  model: 'HoldfastModel',
  turnState: 'HoldfastTurnState',
} as const;

/** A namespace, as DescribeNamespace returns it. */
export interface TemporalNamespace {
  readonly name: string;
  /** A server that lost its data has another id under the same name. */
  readonly id: string;
}

/** Who wrote imported turns, in place of a worker and a workflow. */
export const IMPORTER = 'import';
