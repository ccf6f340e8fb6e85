import { budgetFor } from '../context/budget.ts';
import { estimateTokens } from '../context/estimate.ts';
import { addMeasurements } from '../context/measurement-arithmetic.ts';
import type { CompactionForm, CompactionPlan, PlanResult } from '../context/plan.ts';
import { planCompaction } from '../context/plan-compaction.ts';
import { getCompaction, storePlan } from '../store/compactions.ts';
import type { CompactionRow } from '../store/compactions.ts';
import { recordEvent } from '../store/events.ts';
import { readPlanSource } from '../store/fit-check.ts';
import type { FitCheck, PlanSource } from '../store/fit-check.ts';
import { newId } from '../store/ids.ts';
import { declineCompaction } from '../store/inbox.ts';
import { readSnapshot } from '../store/turns.ts';
import type { CompactContextInput, CompactContextResult, PlannedCompaction } from '../turn/activity-values.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { readFit } from './read-fit.ts';

/**
 * The check before every model call: one query when nothing is to do. Over the trigger, or when
 * forced, it plans a compaction from stored sizes and returns the plan's id and shape.
 */
export async function compactContext(
  dependencies: ActivityDependencies,
  { turn, callNumber, forced }: CompactContextInput,
): Promise<CompactContextResult> {
  const { database } = dependencies;
  const check = await readFit(database, turn);
  const budget = budgetFor(check.policy, check.modelLimits);
  const tokens = estimateTokens(addMeasurements(check.view, check.fixed), check.calibration);
  const fits = { kind: 'fits', view: { headEntryId: check.headEntryId, tokens } } as const;
  if (check.plannedCompactionId !== null) {
    return { kind: 'planned', planned: describePlan(await getCompaction(database, check.plannedCompactionId)) };
  }
  if (forced === null && tokens <= budget.trigger) return fits;
  const source = await readPlanSource(database, turn);
  const result = await makePlan(dependencies, turn, { check, source, reason: forced ?? 'threshold' });
  if (result.kind === 'planned') {
    const { compaction } = await storePlan(database, {
      turn,
      callNumber,
      compactionId: newId(),
      plan: result.plan,
      reason: forced ?? 'threshold',
      preset: check.policy.name,
      headEntryId: source.headEntryId,
    });
    dependencies.reachCrashPoint('compactContext:planned');
    return { kind: 'planned', planned: describePlan(compaction) };
  }
  if (forced === 'manual') {
    const reason = result.kind === 'fits' ? 'nothing_to_compact' : 'irreducible';
    await declineCompaction(database, turn, { reason, tokens });
  }
  if (result.kind === 'fits' || mayGoOn(forced, tokens, budget.inputBudget)) {
    return forced === 'manual' ? { ...fits, declined: true } : fits;
  }
  await recordEvent(database, { turn, kind: 'compaction_exhausted', data: { ...result.breakdown } });
  return { kind: 'exhausted', tokens: result.tokens };
}

/** Nothing can be made smaller, but the request still fits the window: the model is called, and the provider has the last word. */
function mayGoOn(forced: CompactContextInput['forced'], tokens: number, inputBudget: number): boolean {
  return forced !== 'overflow' && tokens <= inputBudget;
}

/** Plans from what is stored; `form` asks for that form instead of the strongest. */
export async function makePlan(
  { database }: ActivityDependencies,
  turn: TurnReference,
  wish: {
    readonly check: FitCheck;
    readonly source: PlanSource;
    readonly reason: CompactionRow['reason'];
    readonly form?: CompactionForm;
  },
): Promise<PlanResult> {
  const { check, source, reason, form } = wish;
  const { snapshot } = await readSnapshot(database, turn.turnId);
  return planCompaction({
    policy: check.policy,
    budget: budgetFor(check.policy, check.modelLimits),
    calibration: check.calibration,
    summarizer: snapshot.summarizer.limits,
    fixed: check.fixed,
    entries: source.entries,
    summary: source.summary,
    operations: source.operations,
    turnId: turn.turnId,
    reason,
    ...(form !== undefined && { form }),
  });
}

export function describePlan(compaction: Pick<CompactionRow, 'compactionId' | 'plan'>): PlannedCompaction {
  const { plan, compactionId } = compaction;
  const waves = [...new Set(plan.parts.map((part) => part.wave))].sort((left, right) => left - right);
  return {
    compactionId,
    tokensBefore: plan.tokensBefore,
    waves: waves.map((wave) =>
      plan.parts
        .filter((part) => part.wave === wave)
        .map((part) => ({ number: part.number, label: partLabel(part, plan) })),
    ),
  };
}

/** What the Temporal UI shows beside the activity: at most 200 bytes. */
function partLabel(part: CompactionPlan['parts'][number], plan: CompactionPlan): string {
  const count = new Intl.NumberFormat('en-US');
  const range = part.kind === 'merge' ? 'all parts' : `entries ${part.fromSequence}–${part.toSequence}`;
  return `${range} · part ${part.number} of ${plan.parts.length} · ${count.format(part.inputTokens)} tokens → ≤ ${count.format(part.maximumOutput)}`;
}
