import type { Budget, ModelLimits } from './plan.ts';
import type { CompactionPolicy, TokenAmount } from './policy.ts';

/** Windows below this shrink a preset's absolute token numbers in proportion. Tokens. */
const FULL_SIZE_WINDOW = 100_000;
/** The fallback reserve: what a long answer takes (seeds/pi.md), and no more than this share of the window. */
const DEFAULT_RESERVE = 16_384;
const DEFAULT_RESERVE_FRACTION = 0.2;

export interface BudgetOptions {
  /** Tokens that a request may hold at most, below the model's own window (an absolute cap). Default: none. */
  readonly inputCap?: number;
}

/**
 * The numbers in force for a policy and a model, in whole tokens. Never throws: numbers that
 * contradict each other give a budget that cannot work, and `policyProblems` names them at start.
 */
export function budgetFor(policy: CompactionPolicy, limits: ModelLimits, options: BudgetOptions = {}): Budget {
  const { window } = limits;
  const outputReserve = reserveFor(policy, limits);
  const inputBudget = Math.max(
    0,
    Math.min(window - outputReserve, limits.maximumInput ?? window, options.inputCap ?? window),
  );
  const amount = (value: TokenAmount): number => resolveAmount(value, { window, inputBudget });
  const trigger = Math.min(amount(policy.trigger), inputBudget);
  return {
    window,
    outputReserve,
    inputBudget,
    trigger,
    target: policy.target === null ? trigger : Math.min(amount(policy.target), trigger),
    tail: amount(policy.keep.tail),
    userMessages: amount(policy.keep.userMessages),
    summaryOutput: Math.min(amount(policy.summary.maximumOutput), limits.maximumOutput),
  };
}

function reserveFor(policy: CompactionPolicy, limits: ModelLimits): number {
  if (policy.outputReserve === null) {
    return Math.floor(Math.min(limits.maximumOutput, DEFAULT_RESERVE, limits.window * DEFAULT_RESERVE_FRACTION));
  }
  return resolveAmount(policy.outputReserve, { window: limits.window, inputBudget: limits.window });
}

/** Tokens, rounded down. An amount that names neither tokens nor a fraction is unlimited: the whole base. */
export function resolveAmount(
  amount: TokenAmount,
  bases: { readonly window: number; readonly inputBudget: number },
): number {
  const base = amount.of === 'window' ? bases.window : bases.inputBudget;
  const scale = amount.exact === true ? 1 : Math.min(1, bases.window / FULL_SIZE_WINDOW);
  const byTokens = amount.tokens === undefined ? Infinity : amount.tokens * scale;
  const byFraction = amount.fraction === undefined ? Infinity : amount.fraction * base;
  const smaller = Math.min(byTokens, byFraction);
  return Math.floor(Number.isFinite(smaller) ? smaller : base);
}
