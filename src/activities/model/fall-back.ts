import { budgetFor } from '../../context/policy/budget.ts';
import { estimateTokens } from '../../context/log/estimate.ts';
import { addMeasurements } from '../../context/log/measurement-arithmetic.ts';
import type { ActivityAttempt } from '../../store/attempts/activity-attempts.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import { readPlanSource } from '../../store/compactions/fit-check.ts';
import { fallBack as storeFallback, readSilence } from '../../store/turns/fallbacks.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import {
  LONGEST_WAIT_BEFORE_FALLBACK_MILLISECONDS,
  nextFallback,
  withModelInForce,
} from '../../turn/agent-snapshot.ts';
import type { AgentSnapshot, FallbackModel } from '../../turn/agent-snapshot.ts';
import type { CallModelInput, CallModelResult } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { makePlan, readFit } from '../compaction/plan-compaction.ts';

/** A call that a model could not answer: the next model of the agent takes over from the next call on; `failed` without one. */
export async function fallBack(
  dependencies: ActivityDependencies,
  { turn, callNumber }: CallModelInput,
  of: {
    readonly snapshot: AgentSnapshot;
    /** Models given up before. */
    readonly givenUp: number;
    /** The try that failed; `null`: the wait for one is too long. */
    readonly attempt: number | null;
    readonly by: ActivityAttempt;
  },
): Promise<CallModelResult> {
  const { snapshot, givenUp, attempt, by } = of;
  const next = nextFallback(snapshot, givenUp);
  if (next === null) return { kind: 'failed' };
  const models = snapshot.fallbacks?.slice(givenUp) ?? [];
  // When none can hold the view, the next one's own check tells what fills its window.
  const place = (await firstThatHolds(dependencies, turn, models)) ?? 0;
  const skipped = models.slice(0, place);
  const to = models[place] ?? next;
  const change = { turn, callNumber, attempt, from: snapshot.model, skipped, to, by };
  await storeFallback(dependencies.database, change);
  dependencies.reachCrashPoint('callModel:fell-back');
  return describeFallback(withModelInForce(snapshot, givenUp + place + 1));
}

/**
 * A fallback in force whose window cannot hold the view any more, however much of it is compacted, is given up for the next one
 * that can; the call that was checked for is told so instead of being made. Not the agent's own model: that its window is too
 * small is no failure that fallbacks are for, and ends the turn.
 * @returns whether another model took over
 */
export async function passOn(
  dependencies: ActivityDependencies,
  { turn, callNumber }: Pick<CallModelInput, 'turn' | 'callNumber'>,
): Promise<boolean> {
  const { snapshot, givenUp } = await readSnapshot(dependencies.database, turn.turnId);
  if (givenUp.length === 0) return false;
  const models = snapshot.fallbacks?.slice(givenUp.length) ?? [];
  const place = await firstThatHolds(dependencies, turn, models);
  const to = place === null ? undefined : models[place];
  if (place === null || to === undefined) return false;
  const skipped = models.slice(0, place);
  const reason = 'window_too_small';
  await storeFallback(dependencies.database, {
    turn,
    callNumber,
    attempt: null,
    from: snapshot.model,
    skipped,
    to,
    reason,
  });
  dependencies.reachCrashPoint('compactContext:fell-back');
  return true;
}

/** Place of the first model that can hold the view, compacted where needed; `null` when none can. */
async function firstThatHolds(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  models: readonly FallbackModel[],
): Promise<number | null> {
  const { database } = dependencies;
  const check = await readFit(database, turn);
  for (const [place, model] of models.entries()) {
    const { policy, modelLimits, summarizer } = model;
    const calibration = await readCalibration(database, { ...turn, model: model.model, limits: modelLimits });
    const ownCheck = { ...check, model: model.model, policy, modelLimits, calibration, reported: null };
    const tokens = estimateTokens(addMeasurements(check.view, check.fixed), calibration);
    if (tokens <= budgetFor(policy, modelLimits).inputBudget) return place;
    const plan = await makePlan(dependencies, turn, {
      check: ownCheck,
      source: await readPlanSource(database, turn),
      reason: 'threshold',
      turnIsOver: false,
      summarizer: summarizer.limits,
    });
    if (plan.kind !== 'exhausted') return place;
  }
  return null;
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
