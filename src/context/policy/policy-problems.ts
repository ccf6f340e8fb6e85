import { budgetFor, resolveAmount } from './budget.ts';
import type { Budget, ModelLimits } from '../plan/plan.ts';
import type { CompactionPolicy } from './policy.ts';

export interface PolicyProblem {
  readonly code:
    | 'reserve_exceeds_window'
    | 'trigger_exceeds_budget'
    | 'target_above_trigger'
    | 'gain_out_of_reach'
    | 'kept_exceeds_target'
    | 'summary_exceeds_target'
    | 'no_way_to_shrink';
  readonly message: string;
  /** Paths of the options involved, as they are written in the configuration. */
  readonly options: readonly string[];
}

export function policyProblems(policy: CompactionPolicy, limits: ModelLimits): readonly PolicyProblem[] {
  const budget = budgetFor(policy, limits);
  return [
    reserveProblem(budget, limits),
    triggerProblem(policy, budget),
    targetProblem(policy, budget, limits),
    gainProblem(policy, budget),
    keptProblem(budget),
    summaryProblem(policy),
  ].filter((problem) => problem !== null);
}

function reserveProblem({ outputReserve }: Budget, { window }: ModelLimits): PolicyProblem | null {
  if (outputReserve < window) return null;
  return {
    code: 'reserve_exceeds_window',
    message:
      `outputReserve keeps ${outputReserve} tokens free, but the model's window is ${window}: ` +
      'nothing is left for the conversation.',
    options: ['outputReserve', 'window'],
  };
}

/** Tokens alone: a fraction of the window may lie above the input budget, and then means all of it (seeds/cowork.md). */
function triggerProblem({ trigger }: CompactionPolicy, budget: Budget): PolicyProblem | null {
  if (trigger.tokens === undefined || trigger.fraction !== undefined || budget.inputBudget === 0) return null;
  const asked = resolveAmount(trigger, budget);
  if (asked <= budget.inputBudget) return null;
  return {
    code: 'trigger_exceeds_budget',
    message:
      `trigger is ${asked} tokens, but a request may hold ${budget.inputBudget} at most: a window of ${budget.window}, ` +
      `less outputReserve (${budget.outputReserve}).`,
    options: ['trigger', 'outputReserve'],
  };
}

/** A pass that wins less than `minimumGain` counts as failed (R5). */
function gainProblem(policy: CompactionPolicy, budget: Budget): PolicyProblem | null {
  const [gain, room] = [Math.ceil(policy.minimumGain * budget.window), budget.trigger - budget.target];
  if (policy.target === null || gain <= room || room <= 0) return null;
  return {
    code: 'gain_out_of_reach',
    message:
      `minimumGain asks for ${gain} tokens of each pass, but one that brings the view from trigger (${budget.trigger}) ` +
      `to target (${budget.target}) wins ${room}: it would count as failed.`,
    options: ['minimumGain', 'trigger', 'target'],
  };
}

function targetProblem(policy: CompactionPolicy, { trigger }: Budget, limits: ModelLimits): PolicyProblem | null {
  if (policy.target === null) return null;
  // The budget caps the target at the trigger; compare what was asked for.
  const asked = budgetFor({ ...policy, trigger: { fraction: 1 } }, limits).target;
  if (asked < trigger) return null;
  return {
    code: 'target_above_trigger',
    message:
      `target is ${asked} tokens and trigger ${trigger}: a pass must aim below the number that starts it, ` +
      'or it starts again at once.',
    options: ['target', 'trigger'],
  };
}

function keptProblem({ target, tail, userMessages, summaryOutput }: Budget): PolicyProblem | null {
  if (tail >= target) {
    return {
      code: 'kept_exceeds_target',
      message: `keep.tail is ${tail} tokens, but a pass aims for ${target} in all: nothing would be dropped.`,
      options: ['keep.tail', 'target'],
    };
  }
  if (tail + userMessages >= target) {
    return {
      code: 'kept_exceeds_target',
      message:
        `keep.tail (${tail} tokens) and keep.userMessages (${userMessages}) together fill the target ` +
        `of ${target} tokens: no room is left for a summary.`,
      options: ['keep.tail', 'keep.userMessages', 'target'],
    };
  }
  if (summaryOutput < target) return null;
  return {
    code: 'summary_exceeds_target',
    message: `summary.maximumOutput is ${summaryOutput} tokens, but a pass aims for ${target} in all.`,
    options: ['summary.maximumOutput', 'target'],
  };
}

function summaryProblem({ enabled, summary, reduce }: CompactionPolicy): PolicyProblem | null {
  if (!enabled || summary.when !== 'never' || reduce.length > 0) return null;
  return {
    code: 'no_way_to_shrink',
    message: "summary.when is 'never' and reduce is empty: nothing may make the view smaller.",
    options: ['summary.when', 'reduce'],
  };
}
