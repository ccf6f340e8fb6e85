import type { ActivityAttempt } from '../../store/attempts/activity-attempts.ts';
import { fallBack as storeFallback, readSilence } from '../../store/turns/fallbacks.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import {
  LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS,
  nextFallback,
  withModelInForce,
} from '../../turn/agent-snapshot.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { CallModelInput, CallModelResult } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/**
 * After a call that a model could not answer: from the next call on, the agent's next model takes over. Without one the result is
 * `failed`.
 */
export async function fallBack(
  dependencies: ActivityDependencies,
  { turn, callNumber }: CallModelInput,
  of: {
    readonly snapshot: AgentSnapshot;
    /** Number of models given up before. */
    readonly givenUp: number;
    /** The failed try; `null` if the wait for a try is too long. */
    readonly attempt: number | null;
    readonly by: ActivityAttempt;
  },
): Promise<CallModelResult> {
  const { snapshot, givenUp, attempt, by } = of;
  const to = nextFallback(snapshot, givenUp);
  if (to === null) return { kind: 'failed' };
  await storeFallback(dependencies.database, { turn, callNumber, attempt, from: snapshot.model, to, by });
  return describeFallback(withModelInForce(snapshot, givenUp + 1));
}

/**
 * Gives up a fallback whose window cannot hold the view, however much of it is compacted, and takes the next one. The checked call
 * returns this instead of asking. Does not apply to the agent's own model: its small window ends the turn.
 * @returns whether another model took over
 */
export async function giveUpSmallFallback(
  { database }: ActivityDependencies,
  { turn, callNumber }: Pick<CallModelInput, 'turn' | 'callNumber'>,
): Promise<boolean> {
  const { snapshot, givenUp } = await readSnapshot(database, turn.turnId);
  const to = givenUp.length === 0 ? null : nextFallback(snapshot, givenUp.length);
  if (to === null) return false;
  const reason = 'window_too_small';
  await storeFallback(database, { turn, callNumber, attempt: null, from: snapshot.model, to, reason });
  return true;
}

/** The model that took over, for the workflow. */
export function describeFallback({ model, modelLimits }: AgentSnapshot): CallModelResult {
  return { kind: 'fallback', model, window: modelLimits.window };
}

/** Whether a fallback is at hand and the model in force has delayed the turn, or would, for too long. */
export async function prefersFallback(
  { database }: ActivityDependencies,
  turn: TurnReference,
  of: { readonly snapshot: AgentSnapshot; readonly givenUp: number; readonly delayMilliseconds: number },
): Promise<boolean> {
  const { snapshot, givenUp, delayMilliseconds } = of;
  if (nextFallback(snapshot, givenUp) === null) return false;
  const silence = await readSilence(database, { turn, model: snapshot.model });
  return silence + delayMilliseconds > LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS;
}
