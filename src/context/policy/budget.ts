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

/** However much a model may answer, half of its window stays for the conversation. */
const LARGEST_RESERVE = 0.5;

/**
 * The policy with the output reserve that its preset names for a model, by the longest beginning of
 * the vendor's name of the model; unchanged when it names none.
 *
 * @param model `provider/model`
 */
export function policyForModel(policy: CompactionPolicy, model: string): CompactionPolicy {
  const name = plainModelName(model.slice(model.indexOf('/') + 1));
  const fitting = Object.entries(policy.outputReserves).filter(([beginning]) => name.startsWith(beginning));
  const [best] = fitting.sort(([left], [right]) => right.length - left.length);
  if (best === undefined) return policy;
  return { ...policy, outputReserve: { tokens: best[1], fraction: LARGEST_RESERVE, of: 'window' } };
}

/**
 * The vendor's own name of a model that another server offers: without the folders of routers (`anthropic/claude-opus-4.6:beta`),
 * regions and vendors of Bedrock (`us.anthropic.claude-opus-4-6-20260101-v1:0`), dates of Vertex AI (`claude-opus-4-6@20260101`)
 * and days. Claude's versions are written with dashes.
 *
 * @param model without the provider
 */
export function plainModelName(model: string): string {
  const name = model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/[:@].*$/, '')
    .replace(/^(?:us-gov|us|eu|apac|au|ca|in|jp|global)\./, '')
    .replace(/^(?:anthropic|openai|google|xai|zai|moonshotai|moonshot|deepseek|mistral|qwen|amazon|meta)\./, '')
    .replace(/-v\d+$/, '')
    .replace(/-20\d\d-?\d\d-?\d\d$/, '');
  return name.startsWith('claude') ? name.replaceAll('.', '-') : name;
}

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
