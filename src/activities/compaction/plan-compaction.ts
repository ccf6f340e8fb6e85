import { anchoredCalibration, estimateTokens } from '../../context/log/estimate.ts';
import { addMeasurements } from '../../context/log/measurements.ts';
import { budgetFor, countRequest } from '../../context/policy/budget.ts';
import { planCompaction } from '../../context/plan/plan-compaction.ts';
import type {
  Budget,
  CompactionForm,
  CompactionPlan,
  CompactionReason,
  CountedRequest,
  PlanInput,
  PlanResult,
} from '../../context/plan/plan.ts';
import { definedOf } from '../../context/policy/defined-of.ts';
import type { CompactionRow } from '../../store/compactions/compactions.ts';
import { readFitCheck, countRecoveries } from '../../store/compactions/fit-check.ts';
import type { FitCheck, PlanSource } from '../../store/compactions/fit-check.ts';
import { readNewestFlush } from '../../store/compactions/compaction-parts.ts';
import type { Database } from '../../store/database/database.ts';
import { readActiveEntryIds } from '../../store/log/active-entries.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import { RECALL_OPEN } from '../../tools/runtime/names.ts';
import type { PlannedCompaction } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/** Plans from stored sizes. `form` asks for that form instead of the strongest. */
export async function makePlan(
  { database, reducers, logger }: ActivityDependencies,
  turn: TurnReference,
  wish: {
    readonly check: CountedFit;
    readonly source: PlanSource;
    readonly reason: CompactionReason;
    readonly form?: CompactionForm;
    readonly keepFrom?: number;
    readonly turnIsOver: boolean;
  },
): Promise<PlanResult> {
  const { check, source, reason, form, keepFrom, turnIsOver } = wish;
  const isRepeated = reason === 'overflow' && check.policy.overflowRecoveries > 1;
  const { snapshot } = await readSnapshot(database, turn.turnId);
  return planCompaction({
    policy: check.policy,
    budget: check.budget,
    calibration: check.calibration,
    summarizer: snapshot.summarizer.limits,
    fixed: check.fixed,
    entries: source.entries,
    summary: source.summary,
    operations: source.operations,
    turnId: turn.turnId,
    reason,
    counted: check.counted,
    turnIsOver,
    ...(isRepeated && { recoveries: await countRecoveries(database, turn) }),
    recall: snapshot.tools.some((tool) => tool.name === RECALL_OPEN),
    ...(await readWishes(database, turn, { check, source })),
    ...definedOf({ form, keepFrom }),
    reducers,
    // Only the kind of error, because its message may quote the conversation.
    onReducerFailed: (reducer, error) =>
      logger.warn(
        { ...turn, reducer, code: error instanceof Error ? error.name : 'unknown' },
        'a reducer failed or is not known to this worker, and was passed over',
      ),
  });
}

/** Facts that outlines lack and some policies need: which entries name active files, and the newest flush. */
async function readWishes(
  database: Database,
  { conversationId }: TurnReference,
  { check, source }: { readonly check: FitCheck; readonly source: PlanSource },
): Promise<Pick<PlanInput, 'activeEntryIds' | 'flushed'>> {
  const { keep, summary } = check.policy;
  const [activeEntryIds, flushed] = await Promise.all([
    keep.activeFiles === null
      ? undefined
      : readActiveEntryIds(database, { conversationId, sequences: spokenSequences(source) }),
    summary.flush === null ? null : readNewestFlush(database, conversationId),
  ]);
  return { ...definedOf({ activeEntryIds }), ...(flushed !== null && { flushed }) };
}

/** Messages, answers and results. Notes and markers name no files. */
function spokenSequences({ entries }: PlanSource): number[] {
  const spoken = [...entries].filter(({ kind }) => kind !== 'note' && kind !== 'compaction');
  return spoken.map(({ sequence }) => sequence);
}

/** Logs what the timeline tells. */
export function logStarted({ logger }: ActivityDependencies, compaction: CompactionRow): void {
  const { compactionId, reason, form, plan } = compaction;
  const { tokensBefore, messagesChanged, entriesInView, parts } = plan;
  const figures = { tokensBefore, messagesChanged, messages: entriesInView, parts: parts.length };
  logger.info({ compactionId, reason, form, ...figures }, 'compaction started');
}

/** What the workflow has to do for a plan. */
export function describePlan({
  plan,
  compactionId,
  reason,
}: Pick<CompactionRow, 'compactionId' | 'plan' | 'reason'>): PlannedCompaction {
  const { parts } = plan;
  const waves = [...new Set(parts.map((part) => part.wave))].toSorted((one, other) => one - other);
  return {
    compactionId,
    tokensBefore: plan.tokensBefore,
    ...(reason === 'manual' && { requested: true }),
    waves: waves.map((wave) =>
      parts.filter((part) => part.wave === wave).map((part) => ({ number: part.number, label: partLabel(part, plan) })),
    ),
  };
}

/** Label of the activity in the Temporal UI, at most 200 bytes. */
function partLabel(part: CompactionPlan['parts'][number], plan: CompactionPlan): string {
  const count = new Intl.NumberFormat('en-US');
  const range = part.kind === 'merge' ? 'all parts' : `entries ${part.fromSequence}–${part.toSequence}`;
  return `${range} · part ${part.number} of ${plan.parts.length} · ${count.format(part.inputTokens)} tokens → ≤ ${count.format(part.maximumOutput)}`;
}

/** The fit check, with the numbers in force and the next request as the turn's policy counts it. */
export interface CountedFit extends FitCheck {
  readonly budget: Budget;
  readonly counted: CountedRequest;
  /** Of the whole request, by the calibrated estimate. */
  readonly tokens: number;
}

/** Estimates by the calibration of the provider's newest count. */
export async function readFit(database: Database, turn: TurnReference): Promise<CountedFit> {
  const check = await readFitCheck(database, turn);
  const { policy, reported } = check;
  const request = addMeasurements(check.view, check.fixed);
  const calibration = anchoredCalibration(check.calibration, request, reported);
  const budget = budgetFor(policy, check.modelLimits);
  const counted = countRequest({ policy, budget, request, calibration, reported });
  return { ...check, calibration, budget, counted, tokens: estimateTokens(request, calibration) };
}
