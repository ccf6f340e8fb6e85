import { mayGoOn } from '../../context/policy/budget.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import { toolsIn } from '../../context/view/system-text.ts';
import { characterCount } from '../../context/log/measurements.ts';
import type { CompactionPlan, CompactionReason } from '../../context/plan/plan.ts';
import { getCompaction, storePlan } from '../../store/compactions/compactions.ts';
import type { HookData } from '../../store/compactions/compactions.ts';
import { recordEventOnce } from '../../store/log/events.ts';
import { readPlanSource } from '../../store/compactions/fit-check.ts';
import type { PlanSource } from '../../store/compactions/fit-check.ts';
import { newId } from '../../store/database/ids.ts';
import { StoreError } from '../../store/database/errors.ts';
import { declineCompaction } from '../../store/messages/waiting.ts';
import { takeMessages } from '../../store/messages/take-messages.ts';
import type { CompactContextInput, CompactContextResult, PlannedCompaction } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { checkLimits, noteLimits } from '../turn/check-limits.ts';
import type { Execution } from '../runtime/activity.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { giveUpSmallFallback } from '../model/call-result.ts';
import { describePlan, logStarted, makePlan, readFit } from './plan-compaction.ts';
import type { CountedFit } from './plan-compaction.ts';

/**
 * The check before every model call, and for some presets after the last one: one query if nothing is to do. Waiting steering messages
 * become entries first. Over the trigger, or if forced or requested, it plans a compaction from stored sizes and returns the plan's id
 * and shape. Within a workflow task it only says that a plan is due.
 */
export async function compactContext(
  dependencies: ActivityDependencies,
  input: CompactContextInput,
  execution: Execution,
): Promise<CompactContextResult> {
  const { database } = dependencies;
  const { turn, turnIsOver = false } = input;
  const before = await readFit(database, turn).catch((error: unknown) => {
    // The branch begins before the first entry, so the turn is only for the compaction.
    if (error instanceof StoreError && error.code === 'entry_not_found') return null;
    throw error;
  });
  if (before === null) return declineEmpty(dependencies, turn);
  const planned = await resumePlan(dependencies, before);
  if (planned !== null) return { kind: 'planned', planned };
  const { changed, taken, limit } = turnIsOver ? UNCHANGED : await prepareStep(dependencies, input, before, execution);
  if (limit !== null) return { kind: 'limit', reason: limit };
  const check = changed ? await readFit(database, turn) : before;
  const result = await checkAndPlan(dependencies, input, check);
  if (taken === 0 || result.kind === 'exhausted' || result.kind === 'limit') return result;
  return { ...result, tookMessages: true };
}

export type CheckedContext = Exclude<CompactContextResult, { kind: 'hooks_due' | 'plan_due' }>;

/** A plan that is not stored yet. */
export interface DuePlan {
  readonly kind: 'due';
  readonly source: PlanSource;
  readonly plan: CompactionPlan;
  readonly reason: CompactionReason;
  /** The result if a hook cancels the compaction. */
  readonly fits: Extract<CompactContextResult, { kind: 'fits' }>;
}

interface PreparedStep {
  readonly changed: boolean;
  /** Number of messages. */
  readonly taken: number;
  readonly limit: string | null;
}

const UNCHANGED: PreparedStep = { changed: false, taken: 0, limit: null };

/** Looks for a limit that is reached. If there is none, takes waiting messages and notes limits that are near. */
async function prepareStep(
  dependencies: ActivityDependencies,
  input: CompactContextInput,
  check: CountedFit,
  { runId }: Execution,
): Promise<PreparedStep> {
  const { turn, callNumber } = input;
  const { spent, near } = await checkLimits(dependencies, turn, check);
  if (spent !== null) return { ...UNCHANGED, limit: spent };
  const { messages: taken } = check.steers
    ? await takeMessages(dependencies.database, turn, { callNumber, runId })
    : { messages: 0 };
  const noted = await noteLimits(dependencies, input, { near, runId });
  return { changed: noted || taken > 0, taken, limit: null };
}

async function checkAndPlan(
  dependencies: ActivityDependencies,
  input: CompactContextInput,
  check: CountedFit,
): Promise<CompactContextResult> {
  const reason = compactionReason(dependencies, input, check);
  if (reason !== null && input.withinTask === true) return { kind: 'plan_due' };
  const view = await checkView(dependencies, input, { check, reason });
  if (view.kind !== 'due') return view;
  const hasHooks = dependencies.beforeCompaction.length > 0 && view.plan.parts.length > 0;
  return hasHooks ? { kind: 'hooks_due' } : storeDuePlan(dependencies, input, check, view);
}

/** Why a compaction is due, or `null`. */
export function compactionReason(
  dependencies: ActivityDependencies,
  input: CompactContextInput,
  check: CountedFit,
): CompactionReason | null {
  const reason = reasonOf(input, check);
  logDecision(dependencies, input, check, reason);
  return reason;
}

function reasonOf(
  { forced, turnIsOver }: CompactContextInput,
  { compactRequests, counted, policy }: CountedFit,
): CompactionReason | null {
  if (forced !== null) return forced;
  if (compactRequests.length > 0) return 'manual';
  if (counted.isDue) return 'threshold';
  return turnIsOver === true && policy.reduceAfterTurn ? 'maintenance' : null;
}

/** @param reason why a compaction is due; `null`: none is */
export async function checkView(
  dependencies: ActivityDependencies,
  input: CompactContextInput,
  { check, reason }: { readonly check: CountedFit; readonly reason: CompactionReason | null },
): Promise<Exclude<CheckedContext, { kind: 'planned' }> | DuePlan> {
  const { database } = dependencies;
  const { turn, callNumber, turnIsOver = false } = input;
  const { tokens } = check;
  const fits = { kind: 'fits', view: { headEntryId: check.headEntryId, tokens } } as const;
  if (reason === null) return fits;
  const source = await readPlanSource(database, turn);
  const result = await makePlan(dependencies, turn, { check, source, reason, turnIsOver });
  if (result.kind === 'planned') return { kind: 'due', source, plan: result.plan, reason, fits };
  if (reason === 'manual') {
    const declined = result.kind === 'fits' ? 'nothing_to_compact' : 'irreducible';
    await declineCompaction(database, turn, { requests: check.compactRequests, reason: declined, tokens });
  }
  if (result.kind === 'fits' || turnIsOver || mayGoOn(reason, tokens, check.budget)) {
    return reason === 'manual' ? { ...fits, declined: true } : fits;
  }
  if (await giveUpSmallFallback(dependencies, input)) return fits;
  const data = { reason, ...result.breakdown };
  await recordEventOnce(database, { turn, kind: 'compaction_exhausted', callNumber, data });
  return { kind: 'exhausted' };
}

/** A branch that begins before the first entry has nothing to compact and nothing to measure. */
async function declineEmpty({ database }: ActivityDependencies, turn: TurnReference): Promise<CompactContextResult> {
  await declineCompaction(database, turn, { reason: 'nothing_to_compact', tokens: 0 });
  // No call follows that needs the head.
  return { kind: 'fits', view: { headEntryId: '', tokens: 0 }, declined: true };
}

/**
 * The compaction of an attempt whose result was lost. Runs before the check of limits: summaries check limits one by one, and a note
 * about a near limit must not come after the plan.
 */
export async function resumePlan(
  { database }: ActivityDependencies,
  { plannedCompactionId: compactionId, headEntryId }: CountedFit,
): Promise<PlannedCompaction | null> {
  if (compactionId === null) return null;
  const compaction = await getCompaction(database, compactionId);
  // An entry came after it, so another plan replaces it.
  if (compaction.headEntryId !== headEntryId) return null;
  return describePlan(compaction);
}

/** One log line per check, so that a compaction, or its absence, can be explained later. */
function logDecision(
  { logger }: ActivityDependencies,
  { turn, callNumber, forced }: CompactContextInput,
  check: CountedFit,
  reason: CompactionReason | null,
): void {
  logger.debug(
    {
      conversationId: turn.conversationId,
      turnId: turn.turnId,
      callNumber,
      ...check.counted.figures,
      messages: check.view.frames,
      systemCharacters: characterCount(check.fixed),
      tools: toolsIn(check.fixed),
      force: forced === 'overflow',
      needsCompaction: reason !== null,
    },
    'context check',
  );
}

export async function storeDuePlan(
  dependencies: ActivityDependencies,
  { turn, callNumber }: CompactContextInput,
  check: CountedFit,
  { source, plan, reason, hook }: DuePlan & { readonly hook?: HookData },
): Promise<CheckedContext> {
  const { compaction } = await storePlan(dependencies.database, {
    turn,
    callNumber,
    compactionId: newId(),
    plan,
    reason,
    preset: check.policy.name,
    headEntryId: source.headEntryId,
    figures: check.counted.figures,
    ...definedOf({ hook }),
  });
  logStarted(dependencies, compaction);
  return { kind: 'planned', planned: describePlan(compaction) };
}
