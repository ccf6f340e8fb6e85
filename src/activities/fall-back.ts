import { fallBack as storeFallback, readSilence } from '../store/fallbacks.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { CallModelInput, CallModelResult } from '../turn/activity-values.ts';
import { LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS, nextFallback, withModelInForce } from '../turn/fallback.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** A call that a model could not answer: the next model of the agent takes over from the next call on; `failed` without one. */
export async function fallBack(
  dependencies: ActivityDependencies,
  { turn, callNumber }: CallModelInput,
  of: {
    readonly snapshot: AgentSnapshot;
    /** Models given up before. */
    readonly givenUp: number;
    readonly attempt: number | null;
  },
): Promise<CallModelResult> {
  const { snapshot, givenUp, attempt } = of;
  const to = nextFallback(snapshot, givenUp);
  if (to === null) return { kind: 'failed' };
  await storeFallback(dependencies.database, { turn, callNumber, attempt, from: snapshot.model, to });
  dependencies.reachCrashPoint('callModel:fell-back');
  return describeFallback(withModelInForce(snapshot, givenUp + 1));
}

/** What the workflow is told of the model that took over. */
export function describeFallback({ model, modelLimits }: AgentSnapshot): CallModelResult {
  return { kind: 'fallback', model, window: modelLimits.window };
}

/** Whether another model is at hand and this one has kept the turn waiting, or would, for too long. */
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
