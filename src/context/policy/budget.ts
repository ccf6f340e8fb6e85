import type { Budget, ModelLimits } from '../plan/plan.ts';
import type { CompactionPolicy, TokenAmount } from './policy.ts';

/** Windows below this shrink a preset's absolute token numbers in proportion. Tokens. */
const FULL_SIZE_WINDOW = 100_000;
/** The fallback reserve: what a long answer takes (seeds/pi.md), and no more than this share of the window. */
const DEFAULT_RESERVE = 16_384;
const DEFAULT_RESERVE_FRACTION = 0.2;
/** What the estimate may be too low by where a vendor caps the input below the window, so that no answer's reserve is free above it. */
const INPUT_CAP_MARGIN = 0.03;

/**
 * The numbers in force for a policy and a model, in whole tokens. Never throws: numbers that
 * contradict each other give a budget that cannot work, and `policyProblems` names them at start.
 */
export function budgetFor(policy: CompactionPolicy, limits: ModelLimits): Budget {
  const window = windowFor(policy, limits);
  const outputReserve = reserveFor(policy, { ...limits, window });
  const inputBudget = Math.max(0, Math.min(window - outputReserve, inputCap(policy, limits)));
  const amount = (value: TokenAmount): number => resolveAmount(value, { window, inputBudget, outputReserve });
  const trigger = Math.min(amount(policy.trigger), inputBudget);
  const target = policy.target === null ? trigger : Math.min(amount(policy.target), trigger);
  const { maximumOutput, minimumOutput, turnPrefixOutput } = policy.summary;
  const longest = Math.max(resolveAmount(maximumOutput, { window, inputBudget, outputReserve, target }), minimumOutput);
  return {
    window,
    outputReserve,
    inputBudget,
    trigger,
    target,
    tail: amount(policy.keep.tail),
    userMessages: amount(policy.keep.userMessages),
    summaryOutput: Math.min(longest, limits.maximumOutput),
    turnPrefixOutput: Math.min(amount(turnPrefixOutput ?? maximumOutput), limits.maximumOutput),
  };
}

/** Largest input that is planned for. A policy that takes the vendor's cap for its own budget is taken at its word. */
function inputCap(policy: CompactionPolicy, { maximumInput }: ModelLimits): number {
  if (maximumInput === undefined) return Infinity;
  const share = policy.outputReserve?.yieldsToMaximumInput === true ? 1 : 1 - INPUT_CAP_MARGIN;
  return Math.floor(maximumInput * share);
}

/** Tokens that a policy takes for the model's window; a user's number counts, also where it says more than is known of the model. */
function windowFor(policy: CompactionPolicy, limits: ModelLimits): number {
  return policy.window === null || policy.window === 0 ? limits.window : policy.window;
}

export function isEnabled(policy: CompactionPolicy): boolean {
  return policy.enabled && policy.window !== 0;
}

function reserveFor(policy: CompactionPolicy, limits: ModelLimits): number {
  if (policy.outputReserve === null) {
    return Math.floor(Math.min(limits.maximumOutput, DEFAULT_RESERVE, limits.window * DEFAULT_RESERVE_FRACTION));
  }
  const { upToMaximumOutput, yieldsToMaximumInput } = policy.outputReserve;
  if (yieldsToMaximumInput === true && limits.maximumInput !== undefined) {
    return Math.max(0, limits.window - limits.maximumInput);
  }
  const { window } = limits;
  const reserve = resolveAmount(policy.outputReserve, { window, inputBudget: window, outputReserve: 0 });
  return upToMaximumOutput === true && limits.maximumOutput > 0 ? Math.min(reserve, limits.maximumOutput) : reserve;
}

/** Tokens, rounded down. An amount that names neither tokens nor a fraction is unlimited: the whole base. */
export function resolveAmount(
  amount: TokenAmount,
  bases: {
    readonly window: number;
    readonly inputBudget: number;
    readonly outputReserve: number;
    readonly target?: number;
  },
): number {
  const base = baseOf(amount, bases);
  const scale = amount.exact === true ? 1 : Math.min(1, bases.window / FULL_SIZE_WINDOW);
  const byTokens = amount.tokens === undefined ? Infinity : amount.tokens * scale;
  const byFraction = amount.fraction === undefined ? Infinity : amount.fraction * base;
  const smaller = Math.min(byTokens, byFraction);
  return Math.floor(Number.isFinite(smaller) ? smaller : base);
}

function baseOf(amount: TokenAmount, bases: Parameters<typeof resolveAmount>[1]): number {
  switch (amount.of) {
    case 'window':
      return bases.window;
    case 'free':
      return Math.max(0, bases.inputBudget - (bases.target ?? 0));
    case 'output_reserve':
      return bases.outputReserve;
    default:
      return bases.inputBudget;
  }
}
