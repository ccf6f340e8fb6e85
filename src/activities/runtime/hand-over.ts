import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { waitFailure } from './activity-error.ts';
import type { ActivityDependencies } from './dependencies.ts';

/**
 * Tries of an activity in which a call waits for a worker that has its tool: half a minute with the delays between them. Then
 * the model is told that there is no such tool.
 */
const HAND_OVERS = 8;
const FIRST_DELAY_MILLISECONDS = 200;
const LONGEST_DELAY_MILLISECONDS = 10_000;

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

/**
 * No failure: another worker may have the tool.
 * @param call as `4.0`: number of the model call, and place in its answer
 * @param attempt that missed it, from 1
 */
export function toolMissing(call: string, attempt: number): Error {
  const delay = Math.min(FIRST_DELAY_MILLISECONDS * 2 ** (attempt - 1), LONGEST_DELAY_MILLISECONDS);
  return waitFailure(`this worker lacks the tool of call ${call}`, delay);
}
