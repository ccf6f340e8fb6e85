const TURN_PREFIX = 'agent-turn';
const WORK_PREFIX = 'agent-work';

/** Workflows and database activities: always served quickly, so a hundred waiting model calls never keep a stop from its turn. */
export const DEFAULT_TURN_TASK_QUEUE = TURN_PREFIX;

/** Activities of the queue of work; all others are of the queue of turns. */
export type WorkActivity = 'askHooks' | 'summarize' | 'changeBranch' | 'callModel' | 'runTool';

/**
 * The queue of model calls, summaries and tools that belongs to a turn queue: `agent-turn` →
 * `agent-work`, `agent-turn-blue` → `agent-work-blue`, `mine` → `mine-work`. Derived, so a workflow
 * needs no setting for it.
 */
export function workTaskQueueFor(turnTaskQueue: string): string {
  if (!turnTaskQueue.startsWith(TURN_PREFIX)) return `${turnTaskQueue}-work`;
  return WORK_PREFIX + turnTaskQueue.slice(TURN_PREFIX.length);
}

/** Of the search attributes that Temporal shows of a run: set when it starts, changed on a change of state only; all are keywords. */
export const SEARCH_ATTRIBUTE_NAMES = {
  conversation: 'HoldfastConversation',
  agent: 'HoldfastAgent',
  model: 'HoldfastModel',
  turnState: 'HoldfastTurnState',
} as const;

/** A namespace of Temporal, as DescribeNamespace tells it. */
export interface TemporalNamespace {
  readonly name: string;
  /** A server that lost its data has another one under the same name. */
  readonly id: string;
}
