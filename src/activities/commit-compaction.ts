import { budgetFor } from '../context/budget.ts';
import { CONTINUATION_NOTE } from '../context/continuation.ts';
import { estimateTokens } from '../context/estimate.ts';
import { addMeasurements } from '../context/measurement-arithmetic.ts';
import { judgeCompaction, viewAfterCompaction } from '../context/judge-compaction.ts';
import { composeSummary } from '../context/compose-summary.ts';
import type { CompactionForm } from '../context/plan.ts';
import { weakerForm } from '../context/plan-compaction.ts';
import { listParts } from '../store/compaction-parts.ts';
import type { PartRow } from '../store/compaction-parts.ts';
import * as store from '../store/compactions.ts';
import type { CompactionRow, NewSummary } from '../store/compactions.ts';
import { readFitCheck, readPlanSource } from '../store/fit-check.ts';
import { newId } from '../store/ids.ts';
import type { CommitCompactionInput, CommitCompactionResult } from '../turn/activity-values.ts';
import { describePlan, makePlan } from './compact-context.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { newText } from './new-content.ts';

/**
 * Commits a finished plan when the numbers say that it helped, in one transaction; otherwise plans
 * the next weaker form in the same transaction. Reads sizes only: the texts were checked when they came.
 */
export async function commitCompaction(
  dependencies: ActivityDependencies,
  { turn, compactionId }: CommitCompactionInput,
): Promise<CommitCompactionResult> {
  const { database } = dependencies;
  const compaction = await store.getCompaction(database, compactionId);
  const finished = await finishedBefore(dependencies, compaction);
  if (finished !== null) return finished;
  const parts = await listParts(database, compactionId);
  const check = await readFitCheck(database, turn);
  const source = await readPlanSource(database, turn);
  const failure = parts.find((part) => part.state !== 'written');
  if (failure !== undefined) return planWeaker(dependencies, { turn, compaction, failure: 'summary_failed' });
  const summary = summaryOf(compaction, parts, check.model);
  const viewAfter = viewAfterCompaction({
    plan: compaction.plan,
    entries: source.entries,
    summary: source.summary,
    newSummary: summary?.measurements ?? null,
    operations: source.operations,
  });
  const tokensAfter = estimateTokens(addMeasurements(viewAfter, check.fixed), check.calibration);
  const verdict = judgeCompaction({
    policy: check.policy,
    budget: budgetFor(check.policy, check.modelLimits),
    reason: compaction.reason,
    tokensBefore: compaction.tokensBefore,
    tokensAfter,
    lastForm: weakerForm(compaction.form) === null,
  });
  if (verdict !== 'accepted') return planWeaker(dependencies, { turn, compaction, failure: verdict });
  const committed = await store.commitCompaction(database, {
    turn,
    compactionId,
    summary,
    viewAfter,
    tokensAfter,
    continuation: compaction.plan.continuation ? newText(CONTINUATION_NOTE) : null,
  });
  dependencies.reachCrashPoint('commitCompaction:written');
  if (committed.kind === 'replanned') return { kind: 'planned', planned: describePlan(committed.next) };
  if (committed.kind === 'abandoned') return { kind: 'exhausted', tokens: compaction.tokensBefore };
  return {
    kind: 'committed',
    view: { headEntryId: committed.headEntryId, tokens: committed.tokensAfter },
    tokensBefore: compaction.tokensBefore,
  };
}
