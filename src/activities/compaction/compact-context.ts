import { budgetFor } from '../../context/policy/budget.ts';
import { checkFigures } from '../../context/view/count-request.ts';
import { mayGoOn, passReason } from '../../context/plan/due-pass.ts';
import { estimateTokens } from '../../context/log/estimate.ts';
import { toolsIn } from '../../context/log/fixed-measurements.ts';
import { addMeasurements, characterCount } from '../../context/log/measurement-arithmetic.ts';
import type { CompactionPlan, CompactionReason, CountedRequest } from '../../context/plan/plan.ts';
import { getCompaction, storePlan } from '../../store/compactions/compactions.ts';
import { recordEventOnce } from '../../store/log/events.ts';
import { readPlanSource } from '../../store/compactions/fit-check.ts';
import type { FitCheck, PlanSource } from '../../store/compactions/fit-check.ts';
import { newId } from '../../store/database/ids.ts';
import { StoreError } from '../../store/database/errors.ts';
import { declineCompaction } from '../../store/messages/inbox.ts';
import type { CompactContextInput, CompactContextResult, PlannedCompaction } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { askHooks } from './ask-hooks.ts';
import { checkLimits } from '../turn/check-limits.ts';
import type { Execution } from '../runtime/activity-shell.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { passOn } from '../model/fall-back.ts';
import { countNextRequest, describePlan, logStarted, makePlan } from './plan-pass.ts';
import { readFit } from './read-fit.ts';

/**
 * The check before every model call, and for some presets after the last one: one query when nothing is to do.
 * Over the trigger, or when forced, it plans a compaction from stored sizes and returns the plan's id and shape.
 */
export async function compactContext(
  dependencies: ActivityDependencies,
  input: CompactContextInput,
  { runId, signal }: Execution,
): Promise<CompactContextResult> {
  const { database } = dependencies;
  const { turn, callNumber, forced, turnIsOver = false } = input;
  const before = await readFit(database, turn).catch((error: unknown) => {
    if (forced === 'manual' && error instanceof StoreError && error.code === 'entry_not_found') return null;
    throw error;
  });
  if (before === null) return declineEmpty(dependencies, turn);
  const planned = await resumePlan(dependencies, before);
  if (planned !== null) return { kind: 'planned', planned };
  const limit = await checkLimits(dependencies, input, runId);
  if (limit.kind === 'spent') return { kind: 'limit', reason: limit.code };
  const check = limit.kind === 'noted' ? await readFit(database, turn) : before;
  const tokens = estimateTokens(addMeasurements(check.view, check.fixed), check.calibration);
  const fits = { kind: 'fits', view: { headEntryId: check.headEntryId, tokens } } as const;
  const counted = countNextRequest(check);
  const reason = passReason({ forced, turnIsOver, policy: check.policy, counted });
  logDecision(dependencies, input, { check, counted, reason });
  if (reason === null) return fits;
  const source = await readPlanSource(database, turn);
  const result = await makePlan(dependencies, turn, { check, source, reason, turnIsOver });
  if (result.kind === 'planned') {
    const pass = { check, source, plan: result.plan, reason, signal };
    return (await storeAndDescribe(dependencies, input, pass)) ?? fits;
  }
  if (forced === 'manual') {
    const declined = result.kind === 'fits' ? 'nothing_to_compact' : 'irreducible';
    await declineCompaction(database, turn, { requests: check.compactRequests, reason: declined, tokens });
    dependencies.reachCrashPoint('compactContext:declined');
  }
  if (result.kind === 'fits' || turnIsOver || mayGoOn(reason, tokens, budgetFor(check.policy, check.modelLimits))) {
    return forced === 'manual' ? { ...fits, declined: true } : fits;
  }
  if (await passOn(dependencies, input)) return fits;
  const data = { reason, ...result.breakdown };
  await recordEventOnce(database, { turn, kind: 'compaction_exhausted', callNumber, data });
  dependencies.reachCrashPoint('compactContext:exhausted');
  return { kind: 'exhausted', tokens: result.tokens };
}

/** On a branch that begins before the first entry there is nothing to compact, and nothing to measure. */
async function declineEmpty(
  { database, reachCrashPoint }: ActivityDependencies,
  turn: TurnReference,
): Promise<CompactContextResult> {
  await declineCompaction(database, turn, { reason: 'nothing_to_compact', tokens: 0 });
  reachCrashPoint('compactContext:declined');
  // No call follows that could ask for the head.
  return { kind: 'fits', view: { headEntryId: '', tokens: 0 }, declined: true };
}

/**
 * The compaction that an attempt planned whose result was lost. Before the limits are asked for: summaries ask for them one by one,
 * and a note about one that is near must not come under the plan.
 */
async function resumePlan(
  { database }: ActivityDependencies,
  { plannedCompactionId: compactionId, headEntryId }: FitCheck,
): Promise<PlannedCompaction | null> {
  if (compactionId === null) return null;
  const compaction = await getCompaction(database, compactionId);
  // Something was appended under it: another plan takes its place.
  if (compaction.headEntryId !== headEntryId) return null;
  return describePlan(compaction);
}

/** One line for each check, so that a pass, or that there was none, can be explained afterwards. */
function logDecision(
  { logger }: ActivityDependencies,
  { turn, callNumber, forced }: CompactContextInput,
  of: { readonly check: FitCheck; readonly counted: CountedRequest; readonly reason: CompactionReason | null },
): void {
  const { check, counted, reason } = of;
  logger.debug(
    {
      conversationId: turn.conversationId,
      turnId: turn.turnId,
      callNumber,
      ...checkFigures(counted, budgetFor(check.policy, check.modelLimits)),
      messages: check.view.frames,
      systemCharacters: characterCount(check.fixed),
      tools: toolsIn(check.fixed),
      force: forced === 'overflow',
      needsCompaction: reason !== null,
    },
    'context check',
  );
}

/** `null` when a hook wants no compaction. */
async function storeAndDescribe(
  dependencies: ActivityDependencies,
  { turn, callNumber }: CompactContextInput,
  pass: {
    readonly check: FitCheck;
    readonly source: PlanSource;
    readonly plan: CompactionPlan;
    readonly reason: CompactionReason;
    readonly signal: AbortSignal;
  },
): Promise<CompactContextResult | null> {
  const { database } = dependencies;
  const { check, source, reason } = pass;
  const decision = await askHooks(dependencies, turn, pass, pass.signal);
  if (decision.cancelled) {
    if (reason === 'manual') {
      await declineCompaction(database, turn, {
        requests: check.compactRequests,
        reason: 'cancelled_by_hook',
        tokens: pass.plan.tokensBefore,
      });
      dependencies.reachCrashPoint('compactContext:declined');
    }
    await recordEventOnce(database, { turn, kind: 'compaction_cancelled', callNumber, data: { reason } });
    dependencies.reachCrashPoint('compactContext:cancelled');
    return null;
  }
  const { compaction } = await storePlan(database, {
    turn,
    callNumber,
    compactionId: newId(),
    plan: decision.plan,
    reason,
    preset: check.policy.name,
    headEntryId: source.headEntryId,
    hook: decision.hook,
    figures: checkFigures(countNextRequest(check), budgetFor(check.policy, check.modelLimits)),
  });
  logStarted(dependencies, compaction);
  dependencies.reachCrashPoint('compactContext:planned');
  return { kind: 'planned', planned: describePlan(compaction) };
}
