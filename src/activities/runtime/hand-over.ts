import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { retryableFailure } from './activity-error.ts';
import type { ActivityDependencies } from './dependencies.ts';

/**
 * Tries of an activity in which a call waits for a worker that has its tool: half a minute with the waits of `withRetryDelay`. Then
 * the model is told that there is no such tool.
 */
const HAND_OVERS = 8;

/**
 * Names of tools that the turn began with and this worker lacks: while versions differ, another worker may have them.
 * None after so many attempts that nobody seems to.
 */
export function toolsToHandOver(
  { tools }: Pick<ActivityDependencies, 'tools'>,
  snapshot: AgentSnapshot,
  attempt: number,
): ReadonlySet<string> {
  if (attempt > HAND_OVERS) return new Set();
  return new Set(snapshot.tools.map(({ name }) => name).filter((name) => tools.get(name) === undefined));
}

/** @param call as `4.0`: number of the model call, and place in its answer */
export function toolMissing(call: string): Error {
  return retryableFailure('ToolMissing', `this worker lacks the tool of call ${call}`);
}
