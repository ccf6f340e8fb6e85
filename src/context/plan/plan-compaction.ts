import { isEnabled, mayGoOn, resolveAmount } from '../policy/budget.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import { summaryRequestLimit } from '../summary/summary-request.ts';
import type { PlanPart, Budget, CompactionForm, CompactionPlan, PlanInput, PlanResult, SummaryForm } from './plan.ts';
import { breakdownWindow } from '../view/view-arrangement.ts';
import { Draft, draftedPlan, planningState, requiredGain } from './planning-state.ts';
import type { DraftedPlan, Goals, PlanningState } from './planning-state.ts';
import { applyReducers, reduce, shrinkToFit } from './reduce.ts';
import { hasEnoughMessages, planSummary, planSummaryInPlace } from './plan-summary.ts';

/** A view may stay this share of the input budget above the target (R7). */
const TARGET_TOLERANCE = 0.05;
/** Of the room that system prompt and tools leave below the trigger, a view may take this at least, whatever the target. */
const HALF = 0.5;
/**
 * A small room is not cut below its half, nor below this: with a third, a summary in the demo's window of 8,192 tokens had room for
 * 300 tokens and lost every value. Tokens.
 */
const SMALL_ROOM = 2_500;
/**
 * A forced pass shrinks what can shrink to this share of its size at most, however low its target: the view then fits even
 * where the estimate knows nothing of what the provider counts, as long as system prompt and tools take less than two thirds of
 * the window. A deeper cut would clip the task itself.
 */
const DEEPEST_CUT = 0.25;
/** After a reported overflow a pass aims for this share of the target, and for less with each further one (C21, R2). */
const FORCED_SHARE = 0.7;
/** A pass that the user asks for in a small view aims for this share of what can shrink. */
const MANUAL_SHARE = 0.5;

const FORMS: readonly CompactionForm[] = ['reduction', 'summary', 'shorter_summary', 'extractive_summary', 'clip_only'];

/** The form to plan after one that failed; `null` after the weakest. */
export function weakerForm(form: CompactionForm): CompactionForm | null {
  return FORMS[FORMS.indexOf(form) + 1] ?? null;
}

/**
 * Decides whether the view is compacted and how, on outlines and numbers alone. Tries the forms from
 * the one asked for to the weakest and takes the first that reaches the target and wins enough; if
 * none does, the one that comes closest, provided that it wins enough and the request then fits.
 */
export function planCompaction(input: PlanInput): PlanResult {
  const state = planningState(input);
  const fits: PlanResult = { kind: 'fits', tokens: Math.ceil(state.tokens) };
  if (input.reason === 'maintenance') return planMaintenance(state) ?? fits;
  if (input.reason === 'threshold' && !isDue(state)) return fits;
  if (input.reason === 'overflow' && !isEnabled(input.policy)) return exhausted(state);
  const goal = goalTokens(state);
  const limit = acceptedTokens(state, goal);
  const gain = requiredGain(state);
  let best: CompactionPlan | null = null;
  for (const form of formsFrom(state)) {
    const drafted = planForm(state, form, { goal, limit });
    if (drafted === null || drafted.tokensBefore - drafted.tokensAfter < gain) continue;
    const proactive = input.reason !== 'overflow' && state.tokens <= input.budget.window;
    const plan = {
      ...drafted,
      parts: flushPart(state, drafted.parts),
      proactive,
      requiredGain: gain,
      acceptedTokens: Math.max(Math.ceil(limit), drafted.tokensAfter),
    };
    if (plan.tokensAfter <= limit) return { kind: 'planned', plan };
    if (best === null || plan.tokensAfter < best.tokensAfter) best = plan;
  }
  if (best !== null && best.tokensAfter <= input.budget.inputBudget) return { kind: 'planned', plan: best };
  return mayGoOn(input.reason, state.tokens, input.budget) ? fits : exhausted(state);
}

/** Tokens that a pass may leave. One that the user asks for in a small view aims low, but may leave what others may. */
function acceptedTokens({ input, tokens }: PlanningState, goal: number): number {
  const { inputBudget, target } = input.budget;
  // Without a target the goal is the trigger, above which the next check would compact again.
  const tolerance = input.policy.target === null ? 0 : TARGET_TOLERANCE;
  const limit = Math.min(inputBudget, goal + tolerance * Math.min(inputBudget, tokens));
  return input.reason === 'manual' ? Math.max(limit, target) : limit;
}

/** The policy's own count decides; where none is given, the calibrated estimate is it. */
function isDue({ input, tokens }: PlanningState): boolean {
  return input.counted?.isDue ?? (isEnabled(input.policy) && tokens > input.budget.trigger);
}

/** Reduces what old results take, whatever the window holds: no target, and no gain but the reducers' own minimum. */
function planMaintenance(state: PlanningState): PlanResult | null {
  if (state.input.form !== undefined && state.input.form !== 'reduction') return null;
  const drafted = planOperations(state, 'reduction', (draft) => applyReducers(draft, 0));
  if (drafted === null || drafted.tokensAfter >= drafted.tokensBefore) return null;
  return { kind: 'planned', plan: { ...drafted, requiredGain: 1, acceptedTokens: drafted.tokensAfter } };
}

function exhausted({ input }: PlanningState): PlanResult {
  return { kind: 'exhausted', breakdown: breakdownWindow(input) };
}

/**
 * A user who asks for a compaction asks for a summary: reducing alone would ignore what to focus
 * on, and clipping what still fits would only take away.
 */
function formsFrom({ input }: PlanningState): readonly CompactionForm[] {
  const { when } = input.policy.summary;
  const left = FORMS.slice(FORMS.indexOf(input.form ?? 'reduction'));
  if (when === 'never') return left.filter((form) => !writesSummary(form));
  if (input.reason === 'manual') return left.filter(writesSummary);
  return when === 'always' ? left.filter((form) => form !== 'reduction') : left;
}

function writesSummary(form: CompactionForm): form is SummaryForm {
  return form !== 'reduction' && form !== 'clip_only';
}

function planForm(state: PlanningState, form: CompactionForm, goals: Goals): DraftedPlan | null {
  if (!writesSummary(form)) {
    return planOperations(state, form, (draft) => {
      reduce(draft, goals.goal);
      const { olderUserMessages, kept } = state.arrangement;
      if (form === 'clip_only') shrinkToFit(draft, { positions: [...olderUserMessages, ...kept], ...goals });
    });
  }
  if (!hasEnoughMessages(state)) return null;
  const isInPlace = state.input.policy.summary.of === 'shortened';
  return isInPlace ? planSummaryInPlace(state, form, goals) : planSummary(state, form, goals);
}

function planOperations(
  state: PlanningState,
  form: CompactionForm,
  change: (draft: Draft) => void,
): DraftedPlan | null {
  const draft = new Draft(state, state.tokens + state.continuationTokens);
  change(draft);
  if (draft.operations.size === 0) return null;
  return draftedPlan(draft, form, { messagesChanged: draft.operations.size });
}

/**
 * What the pass aims for, in tokens. After a reported overflow the window itself tells how much too
 * low the estimate was: a view that we take for small is scaled as if it had filled the window (D1).
 */
function goalTokens(state: PlanningState): number {
  const { budget, policy, reason, counted } = state.input;
  const calibrated = (tokens: number): number =>
    Math.min(tokens * (counted?.calibratedPerToken ?? 1), budget.inputBudget);
  const room = Math.max(0, calibrated(budget.trigger) - state.fixedTokens);
  const leastRoom = Math.max(room * (policy.leastRoom ?? HALF), Math.min(room * HALF, SMALL_ROOM));
  const target = Math.max(calibrated(budget.target), state.fixedTokens + leastRoom);
  const shrinkable = Math.max(0, state.tokens - state.fixedTokens);
  if (reason === 'manual') return Math.min(target, state.fixedTokens + shrinkable * MANUAL_SHARE);
  if (reason !== 'overflow') return target;
  const lower = target * FORCED_SHARE ** (1 + (state.input.recoveries ?? 0));
  const scaled = Math.min(lower, (state.tokens * lower) / Math.max(1, budget.window));
  return Math.min(budget.inputBudget, Math.max(scaled, state.fixedTokens + shrinkable * DEEPEST_CUT));
}

/** `accepted`, or the code of why the next weaker form must be planned. */
type CompactionVerdict = 'accepted' | 'not_smaller' | 'too_little_won' | 'over_target' | 'over_window';

interface JudgedCompaction {
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

/**
 * The parts of a plan, behind a small one for the memory when next to nothing is left of the window:
 * it is durable before anything is taken out of the view (C17).
 */
function flushPart(state: PlanningState, parts: readonly PlanPart[]): readonly PlanPart[] {
  const flush = state.input.policy.summary.flush;
  const { table } = state;
  if (flush === null || parts.length === 0 || !isFlushDue(state, flush)) return parts;
  const isMessage = (position: number): boolean => table.kindAt(position) !== 'note';
  const oldest = state.arrangement.kept.find(isMessage);
  const newest = state.arrangement.kept.findLast(isMessage);
  if (newest === undefined || oldest === undefined) return parts;
  const { summarizer } = state.input;
  const limit = summaryRequestLimit(summarizer, flush.maximumOutput);
  const part: PlanPart = {
    number: 1,
    wave: 1,
    kind: 'flush',
    fromSequence: table.sequenceAt(oldest),
    toSequence: table.sequenceAt(newest),
    inputTokens: Math.ceil(Math.min(limit, state.tokens)),
    maximumOutput: flush.maximumOutput,
  };
  return [part, ...parts.map((other) => ({ ...other, number: other.number + 1, wave: other.wave + 1 }))];
}

function isFlushDue(state: PlanningState, flush: NonNullable<CompactionPolicy['summary']['flush']>): boolean {
  const { budget, flushed } = state.input;
  if (state.entriesInView < flush.minimumMessages) return false;
  if (budget.window - state.tokens >= resolveAmount(flush.slack, budget)) return false;
  if (flushed === undefined) return true;
  return flushed.millisecondsAgo >= flush.cooldown && state.tokens - flushed.tokens >= flush.minimumGrowth;
}
