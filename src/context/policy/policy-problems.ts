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
    ...reserveProblems(budget, limits),
    ...triggerProblems(policy, budget),
    ...targetProblems(policy, budget, limits),
    ...gainProblems(policy, budget),
    ...keptProblems(budget),
    ...summaryProblems(policy),
  ];
}

function reserveProblems(budget: Budget, limits: ModelLimits): PolicyProblem[] {
  if (budget.outputReserve < limits.window) return [];
  return [
    {
      code: 'reserve_exceeds_window',
      message:
        `outputReserve keeps ${budget.outputReserve} tokens free, but the model's window is ${limits.window}: ` +
        'nothing is left for the conversation.',
      options: ['outputReserve', 'window'],
    },
  ];
}

/** Tokens alone: a fraction of the window may lie above the input budget, and then means all of it (seeds/cowork.md). */
function triggerProblems(policy: CompactionPolicy, budget: Budget): PolicyProblem[] {
  const { trigger } = policy;
  if (trigger.tokens === undefined || trigger.fraction !== undefined || budget.inputBudget === 0) return [];
  const asked = resolveAmount(trigger, budget);
  if (asked <= budget.inputBudget) return [];
  return [
    {
      code: 'trigger_exceeds_budget',
      message:
        `trigger is ${asked} tokens, but a request may hold ${budget.inputBudget} at most: a window of ${budget.window}, ` +
        `less outputReserve (${budget.outputReserve}).`,
      options: ['trigger', 'outputReserve'],
    },
  ];
}

/** A pass that wins less than `minimumGain` counts as failed (R5). */
function gainProblems(policy: CompactionPolicy, budget: Budget): PolicyProblem[] {
  if (policy.target === null) return [];
  const [gain, room] = [Math.ceil(policy.minimumGain * budget.window), budget.trigger - budget.target];
  if (gain <= room || room <= 0) return [];
  return [
    {
      code: 'gain_out_of_reach',
      message:
        `minimumGain asks for ${gain} tokens of each pass, but one that brings the view from trigger (${budget.trigger}) ` +
        `to target (${budget.target}) wins ${room}: it would count as failed.`,
      options: ['minimumGain', 'trigger', 'target'],
    },
  ];
}

function targetProblems(policy: CompactionPolicy, budget: Budget, limits: ModelLimits): PolicyProblem[] {
  if (policy.target === null) return [];
  // The budget caps the target at the trigger; compare what was asked for.
  const asked = budgetFor({ ...policy, trigger: { fraction: 1 } }, limits).target;
  if (asked < budget.trigger) return [];
  return [
    {
      code: 'target_above_trigger',
      message:
        `target is ${asked} tokens and trigger ${budget.trigger}: a pass must aim below the number that starts it, ` +
        'or it starts again at once.',
      options: ['target', 'trigger'],
    },
  ];
}

function keptProblems(budget: Budget): PolicyProblem[] {
  const limit = budget.target;
  if (budget.tail >= limit) {
    return [
      {
        code: 'kept_exceeds_target',
        message: `keep.tail is ${budget.tail} tokens, but a pass aims for ${limit} in all: nothing would be dropped.`,
        options: ['keep.tail', 'target'],
      },
    ];
  }
  if (budget.tail + budget.userMessages >= limit) {
    return [
      {
        code: 'kept_exceeds_target',
        message:
          `keep.tail (${budget.tail} tokens) and keep.userMessages (${budget.userMessages}) together fill the target ` +
          `of ${limit} tokens: no room is left for a summary.`,
        options: ['keep.tail', 'keep.userMessages', 'target'],
      },
    ];
  }
  if (budget.summaryOutput >= limit) {
    return [
      {
        code: 'summary_exceeds_target',
        message: `summary.maximumOutput is ${budget.summaryOutput} tokens, but a pass aims for ${limit} in all.`,
        options: ['summary.maximumOutput', 'target'],
      },
    ];
  }
  return [];
}

function summaryProblems(policy: CompactionPolicy): PolicyProblem[] {
  if (!policy.enabled || policy.summary.when !== 'never' || policy.reduce.length > 0) return [];
  return [
    {
      code: 'no_way_to_shrink',
      message: "summary.when is 'never' and reduce is empty: nothing may make the view smaller.",
      options: ['summary.when', 'reduce'],
    },
  ];
}
