import { calibratedTokens, NO_CALIBRATION } from '../log/estimate.ts';
import type { NewestReport } from '../log/estimate.ts';
import { characterCount } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';
import type { Budget, Calibration, CountedRequest, CompactionReason, ModelLimits } from '../plan/plan.ts';
import type { CompactionPolicy, TokenAmount } from './policy.ts';

/** Windows below this shrink a preset's absolute token numbers in proportion. Tokens. */
const FULL_SIZE_WINDOW = 100_000;
/** The fallback reserve: what a long answer takes (seeds/pi.md), and no more than this share of the window. */
const DEFAULT_RESERVE = 16_384;
const DEFAULT_RESERVE_FRACTION = 0.2;
/** However little room there is, a summary may take this. Tokens. */
export const SMALLEST_SUMMARY = 200;
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
  const { maximumOutput, minimumOutput, turnPrefix } = policy.summary;
  const longest = Math.max(amount(maximumOutput), minimumOutput);
  return {
    window,
    outputReserve,
    inputBudget,
    trigger,
    target,
    tail: amount(policy.keep.tail),
    userMessages: amount(policy.keep.userMessages),
    summaryOutput: Math.min(longest, limits.maximumOutput),
    turnPrefixOutput: turnPrefix === null ? 0 : Math.min(amount(turnPrefix.maximumOutput), limits.maximumOutput),
  };
}

/** Largest input that is planned for. A policy that takes the vendor's cap for its own budget is taken at its word. */
function inputCap(policy: CompactionPolicy, { maximumInput }: ModelLimits): number {
  if (maximumInput === undefined) return Infinity;
  const share = policy.outputReserve?.yieldsToModel === true ? 1 : 1 - INPUT_CAP_MARGIN;
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
  const { yieldsToModel = false } = policy.outputReserve;
  const { window, maximumInput, maximumOutput } = limits;
  if (yieldsToModel && maximumInput !== undefined) return Math.max(0, window - maximumInput);
  const reserve = resolveAmount(policy.outputReserve, { window, inputBudget: window, outputReserve: 0 });
  return yieldsToModel && maximumOutput > 0 ? Math.min(reserve, maximumOutput) : reserve;
}

/** Tokens, rounded down. An amount that names neither tokens nor a fraction is unlimited: the whole base. */
export function resolveAmount(
  amount: TokenAmount,
  bases: Pick<Budget, 'window' | 'inputBudget' | 'outputReserve'>,
): number {
  const { window, inputBudget, outputReserve } = bases;
  const base = { window, input_budget: inputBudget, output_reserve: outputReserve }[amount.of ?? 'input_budget'];
  const scale = amount.exact === true ? 1 : Math.min(1, window / FULL_SIZE_WINDOW);
  const byTokens = amount.tokens === undefined ? Infinity : amount.tokens * scale;
  const byFraction = amount.fraction === undefined ? Infinity : amount.fraction * base;
  const smaller = Math.min(byTokens, byFraction);
  return Math.floor(Number.isFinite(smaller) ? smaller : base);
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
    figures: {
      estimate: Math.round(estimate),
      reported: reported === null ? null : reported.usage.input + reported.usage.output,
      effective: tokens === null ? null : Math.round(tokens),
      budget: budget.inputBudget,
      threshold: Math.round(budget.trigger),
    },
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

/** Nothing can be made smaller, but the request still fits the window: the model is called, and the provider has the last word. */
export function mayGoOn(
  reason: CompactionReason | null,
  tokens: number,
  { inputBudget }: Pick<Budget, 'inputBudget'>,
): boolean {
  return reason !== 'overflow' && tokens <= inputBudget;
}
