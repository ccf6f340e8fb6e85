import { measureView } from '../view/view-arrangement.ts';
import type { MeasuredView } from '../view/view-arrangement.ts';
import type { Measurements } from '../log/measurements.ts';
import type { Budget, CompactionPlan, SummaryInForce } from './plan.ts';
import type { PlanningState } from './planning-state.ts';

/** `accepted`, or the code of why the next weaker form must be planned. */
export type CompactionVerdict = 'accepted' | 'not_smaller' | 'too_little_won' | 'over_target' | 'over_window';

export interface JudgedCompaction {
  readonly plan: Pick<CompactionPlan, 'acceptedTokens' | 'requiredGain'>;
  readonly budget: Pick<Budget, 'inputBudget'>;
  /** Tokens by the calibrated estimate, measured the same way before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** No weaker form is left: what is smaller and fits is better than nothing. */
  readonly lastForm: boolean;
}

/** Whether a finished compaction counts: only if it shrank, enough, and to where the plan wants the view. */
export function judgeCompaction(judged: JudgedCompaction): CompactionVerdict {
  const { plan, budget, tokensBefore, tokensAfter, lastForm } = judged;
  if (tokensAfter >= tokensBefore) return 'not_smaller';
  if (lastForm) return tokensAfter <= budget.inputBudget ? 'accepted' : 'over_window';
  if (tokensBefore - tokensAfter < plan.requiredGain) return 'too_little_won';
  return tokensAfter <= plan.acceptedTokens ? 'accepted' : 'over_target';
}

/** Measurements of the view that a plan leads to, `fixed` included, before its marker and continuation note are appended. */
export function viewAfterCompaction(
  before: MeasuredView,
  plan: CompactionPlan,
  compactionId: string,
  newSummary: Measurements | null,
): Measurements {
  return measureView({
    ...before,
    summary: summaryAfter(before.summary, plan, compactionId, newSummary),
    operations: [...before.operations, ...plan.operations],
  });
}

function summaryAfter(
  before: SummaryInForce | null,
  plan: CompactionPlan,
  compactionId: string,
  measurements: Measurements | null,
): SummaryInForce | null {
  const { firstKeptSequence, coveredThroughSequence, keptSequences, shown, inPlace } = plan;
  if (firstKeptSequence === null || coveredThroughSequence === null || measurements === null) return before;
  return {
    compactionId,
    firstKeptSequence,
    coveredThroughSequence,
    keptSequences,
    measurements,
    ...(shown !== undefined && { shown }),
    ...(inPlace !== undefined && { inPlace }),
  };
}

/**
 * Tokens that a compaction must free: a share of the window (R5), in the policy's own tokens, so that one which reaches the policy's
 * target wins enough whatever the policy counts by. One that the user asked for only has to be smaller.
 */
export function requiredGain(state: PlanningState): number {
  const { budget, policy, reason, counted } = state.input;
  if (reason === 'manual' || state.isOverMessageCap) return 1;
  const base =
    reason === 'overflow'
      ? Math.min(budget.window, state.tokens)
      : budget.window * Math.min(1, counted?.calibratedPerToken ?? 1);
  return Math.max(1, Math.ceil(policy.minimumGain * base));
}
