import { calibratedTokens, NO_CALIBRATION } from '../log/estimate.ts';
import type { NewestReport } from '../log/estimate.ts';
import { isEnabled } from '../policy/budget.ts';
import { characterCount } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';
import type { Budget, Calibration, CountedRequest, CompactionReason } from '../plan/plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';

export function policyTokens(
  counting: CompactionPolicy['counting'],
  measurements: Measurements,
  calibration: Calibration,
): number {
  if (counting === 'calibrated') return calibratedTokens(measurements, calibration);
  const { charactersPerToken, imageCharacters } = counting;
  const images = imageCharacters === null ? 0 : measurements.images * imageCharacters;
  const patches = imageCharacters === null ? measurements.imagePatches : 0;
  return (characterCount(measurements) + images) / charactersPerToken + patches;
}

/**
 * The number that is held against the policy's trigger, and whether a pass is due. Fixed ratios feed
 * the trigger only: the calibrated estimate guards that the request fits, for every policy (R24, R25).
 */
export function countRequest(input: {
  readonly policy: CompactionPolicy;
  readonly budget: Budget;
  readonly request: Measurements;
  readonly calibration: Calibration;
  /** The newest usage since the newest compaction: an older one never counts (R3). */
  readonly reported: NewestReport | null;
}): CountedRequest {
  const { policy, budget, request, calibration, reported } = input;
  const calibrated = calibratedTokens(request, calibration);
  const estimate = policyTokens(policy.counting, request, calibration);
  const { tokens, isReported } = countOf(policy.counting, estimate, reported);
  const calibratedPerToken = tokens === null || tokens === 0 || isReported ? 1 : calibrated / tokens;
  const isOver = (tokens ?? 0) > budget.trigger || calibrated > budget.inputBudget;
  return {
    tokens,
    calibratedPerToken,
    isDue: isEnabled(policy) && isOver,
    estimate,
    reported: reported === null ? null : reported.usage.input + reported.usage.output,
  };
}

interface Count {
  readonly tokens: number | null;
  /** Mostly the provider's own number, not one of the ratio. */
  readonly isReported: boolean;
}

function countOf(counting: CompactionPolicy['counting'], estimate: number, report: NewestReport | null): Count {
  if (counting === 'calibrated') return { tokens: estimate, isReported: true };
  if (report === null) return { tokens: counting.unreported === 'wait' ? null : estimate, isReported: false };
  const { usage, since } = report;
  const counted = usage.input + usage.output;
  switch (counting.reported) {
    case 'alone':
      return { tokens: counted, isReported: true };
    case 'plus_estimate':
      return { tokens: counted + policyTokens(counting, since, NO_CALIBRATION), isReported: true };
    case 'higher':
      return { tokens: Math.max(usage.input, estimate), isReported: usage.input >= estimate };
  }
}

/** Why a pass is made, or none, in numbers: both counts, the one that is held against the trigger, and what it is held against. */
export interface CheckFigures {
  readonly estimate: number;
  /** The provider's count of the newest call with its answer; `null`: none since the newest compaction. */
  readonly reported: number | null;
  /** What counts; `null`: nothing is known yet. */
  readonly effective: number | null;
  readonly budget: number;
  readonly threshold: number;
}

export function checkFigures(counted: CountedRequest, budget: Budget): CheckFigures {
  const { tokens, estimate = 0, reported = null } = counted;
  return {
    estimate: Math.round(estimate),
    reported,
    effective: tokens === null ? null : Math.round(tokens),
    budget: budget.inputBudget,
    threshold: Math.round(budget.trigger),
  };
}

/** Why a pass is made now; `null`: none is. */
export function passReason(of: {
  readonly forced: Extract<CompactionReason, 'overflow' | 'manual'> | null;
  readonly turnIsOver: boolean;
  readonly policy: Pick<CompactionPolicy, 'reduceAfterTurn'>;
  readonly counted: Pick<CountedRequest, 'isDue'>;
}): CompactionReason | null {
  const { forced, turnIsOver, policy, counted } = of;
  if (forced !== null) return forced;
  if (counted.isDue) return 'threshold';
  return turnIsOver && policy.reduceAfterTurn ? 'maintenance' : null;
}

/** Nothing can be made smaller, but the request still fits the window: the model is called, and the provider has the last word. */
export function mayGoOn(
  reason: CompactionReason | null,
  tokens: number,
  { inputBudget }: Pick<Budget, 'inputBudget'>,
): boolean {
  return reason !== 'overflow' && tokens <= inputBudget;
}
