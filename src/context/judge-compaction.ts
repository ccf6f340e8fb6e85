import { measureView } from './measure-view.ts';
import type { MeasuredView } from './measure-view.ts';
import type { Measurements } from './measurements.ts';
import type { Budget, CompactionPlan, Operation, PlanInput, SummaryInForce } from './plan.ts';
import type { CompactionPolicy } from './policy.ts';

/** Share of the target by which a pass may miss it (R7). */
const TARGET_TOLERANCE = 1.05;

/** `accepted`, or the code of why the next weaker form must be planned. */
export type CompactionVerdict = 'accepted' | 'not_smaller' | 'too_little_won' | 'over_target' | 'over_window';

export interface JudgedCompaction {
  readonly policy: CompactionPolicy;
  readonly budget: Budget;
  readonly reason: PlanInput['reason'];
  /** Tokens by the calibrated estimate, measured the same way before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** No weaker form is left: what is smaller and fits is better than nothing. */
  readonly lastForm: boolean;
}

/** Whether a finished compaction counts: only if it shrank, enough, and to where the policy wants the view. */
export function judgeCompaction(judged: JudgedCompaction): CompactionVerdict {
  const { policy, budget, reason, tokensBefore, tokensAfter, lastForm } = judged;
  if (tokensAfter >= tokensBefore) return 'not_smaller';
  if (lastForm) return tokensAfter <= budget.inputBudget ? 'accepted' : 'over_window';
  // A user who asks for a compaction gets what there is to win (ruling on R5).
  if (reason === 'manual') return 'accepted';
  if (tokensBefore - tokensAfter < policy.minimumGain * budget.window) return 'too_little_won';
  return tokensAfter <= budget.target * TARGET_TOLERANCE ? 'accepted' : 'over_target';
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
    operations: [...withoutReplaced(before.operations, plan.operations), ...plan.operations],
  });
}

function summaryAfter(
  before: SummaryInForce | null,
  plan: CompactionPlan,
  compactionId: string,
  measurements: Measurements | null,
): SummaryInForce | null {
  const { firstKeptSequence, coveredThroughSequence, keptUserEntryIds } = plan;
  if (firstKeptSequence === null || coveredThroughSequence === null || measurements === null) return before;
  return { compactionId, firstKeptSequence, coveredThroughSequence, keptUserEntryIds, measurements };
}

function withoutReplaced(operations: readonly Operation[], newer: readonly Operation[]): Operation[] {
  const replaced = new Set(newer.map((operation) => operation.entryId));
  return operations.filter((operation) => !replaced.has(operation.entryId));
}
