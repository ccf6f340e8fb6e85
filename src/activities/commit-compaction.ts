import { budgetFor } from '../context/budget.ts';
import { continuationContent } from '../context/continuation.ts';
import { estimateTokens } from '../context/estimate.ts';
import { judgeCompaction, viewAfterCompaction } from '../context/judge-compaction.ts';
import { subtractMeasurements } from '../context/measurement-arithmetic.ts';
import { weakerForm } from '../context/plan-compaction.ts';
import { composeSummary } from '../context/compose-summary.ts';
import { renderFileLists, withoutFileLists } from '../context/file-lists.ts';
import { measureSummary, presentationOf } from '../context/summary-message.ts';
import { listParts } from '../store/compaction-parts.ts';
import type { PartRow } from '../store/compaction-parts.ts';
import * as store from '../store/compactions.ts';
import type { CompactionRow, NewSummary } from '../store/compactions.ts';
import { recordEvent } from '../store/events.ts';
import { readPlanSource } from '../store/fit-check.ts';
import type { FitCheck, PlanSource } from '../store/fit-check.ts';
import { newId } from '../store/ids.ts';
import { readPreviousSummary } from '../store/previous-summary.ts';
import { readSnapshot } from '../store/turns.ts';
import { RECALL_OPEN } from '../tools/names.ts';
import type { CommitCompactionInput, CommitCompactionResult } from '../turn/activity-values.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import { listFiles } from './list-files.ts';
import { describePlan, makePlan } from './plan-pass.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { readFit } from './read-fit.ts';
import { newContent } from './new-content.ts';

interface CommitState {
  readonly turn: TurnReference;
  readonly compaction: CompactionRow;
  readonly check: FitCheck;
  readonly source: PlanSource;
}

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
  const check = await readFit(database, turn);
  const source = await readPlanSource(database, turn);
  const state: CommitState = { turn, compaction, check, source };
  if (parts.some((part) => part.state !== 'written')) return planWeaker(dependencies, state, 'summary_failed');
  const { snapshot } = await readSnapshot(database, turn.turnId);
  const summary = await summaryOf(dependencies, state, parts, snapshot);
  const after = viewAfterCompaction(
    { ...source, fixed: check.fixed },
    compaction.plan,
    compactionId,
    summary?.measurements ?? null,
  );
  const tokensAfter = estimateTokens(after, check.calibration);
  const verdict = judgeCompaction({
    plan: compaction.plan,
    budget: budgetFor(check.policy, check.modelLimits),
    tokensBefore: compaction.tokensBefore,
    tokensAfter,
    lastForm: weakerForm(compaction.form) === null,
  });
  if (verdict !== 'accepted') return planWeaker(dependencies, state, verdict);
  const recall = snapshot.tools.some((tool) => tool.name === RECALL_OPEN);
  const committed = await store.commitCompaction(database, {
    turn,
    compactionId,
    summary,
    viewAfter: subtractMeasurements(after, check.fixed),
    tokensAfter,
    continuation: compaction.plan.continuation
      ? newContent(continuationContent(check.policy.continuationText, { recall }))
      : null,
  });
  dependencies.reachCrashPoint('commitCompaction:written');
  if (committed.kind === 'replanned') return { kind: 'planned', planned: describePlan(committed.next) };
  if (committed.kind === 'abandoned') return { kind: 'exhausted', tokens: compaction.tokensBefore };
  const { headEntryId } = committed;
  return {
    kind: 'committed',
    view: { headEntryId, tokens: committed.tokensAfter },
    tokensBefore: compaction.tokensBefore,
  };
}

/** What an earlier attempt of this activity, or of its predecessor on another worker, has decided already. */
async function finishedBefore(
  { database }: ActivityDependencies,
  compaction: CompactionRow,
): Promise<CommitCompactionResult | null> {
  if (compaction.status === 'planned') return null;
  if (compaction.nextCompactionId !== null) {
    return { kind: 'planned', planned: describePlan(await store.getCompaction(database, compaction.nextCompactionId)) };
  }
  if (compaction.status !== 'committed' || compaction.committedHeadEntryId === null) {
    return { kind: 'exhausted', tokens: compaction.tokensBefore };
  }
  return {
    kind: 'committed',
    view: { headEntryId: compaction.committedHeadEntryId, tokens: compaction.tokensAfter ?? compaction.tokensBefore },
    tokensBefore: compaction.tokensBefore,
  };
}

/** The text of all parts, with the lists of files below it; `null` when the plan writes no summary. */
async function summaryOf(
  { database }: ActivityDependencies,
  { turn, compaction, check, source }: CommitState,
  parts: readonly PartRow[],
  snapshot: AgentSnapshot,
): Promise<NewSummary | null> {
  if (parts.length === 0) return null;
  const { policy } = check;
  const previous = await readPreviousSummary(database, compaction.previousCompactionId);
  const unread = policy.summary.splitTurn === 'separate' ? (previous?.text ?? null) : null;
  const composed = composeSummary(
    parts.map((row) => ({ kind: row.part.kind, text: row.text ?? '' })),
    unread === null ? null : withoutFileLists(unread),
  );
  const { conversationId } = turn;
  const { headEntryId } = source;
  const files = await listFiles(database, { conversationId, headEntryId, plan: compaction.plan, previous, policy });
  const lists = policy.summary.fileLists === null ? '' : renderFileLists(files);
  const text = lists === '' ? composed.text : `${composed.text}\n\n${lists}`;
  const byProgram = compaction.form === 'extractive_summary' || parts.every((row) => row.promptVersion === 'hook');
  return {
    text,
    measurements: measureSummary(text, presentationOf(policy)),
    sections: composed.sections,
    files,
    model: byProgram ? null : snapshot.summarizer.model,
    promptVersion: parts.at(-1)?.promptVersion ?? '',
  };
}

/** Replaces a form that failed by the next weaker one, or ends the compaction when none is left. */
async function planWeaker(
  dependencies: ActivityDependencies,
  { turn, compaction, check, source }: CommitState,
  failure: string,
): Promise<CommitCompactionResult> {
  const { database } = dependencies;
  const { compactionId, reason } = compaction;
  for (let form = weakerForm(compaction.form); form !== null; form = weakerForm(form)) {
    const result = await makePlan(dependencies, turn, {
      check,
      source,
      reason,
      form,
      turnIsOver: compaction.plan.turnIsOver,
    });
    if (result.kind !== 'planned') continue;
    const next = await store.replanCompaction(database, {
      turn,
      compactionId,
      failure,
      nextCompactionId: newId(),
      plan: result.plan,
    });
    return { kind: 'planned', planned: describePlan(next) };
  }
  await store.endCompaction(database, { turn, compactionId, status: 'failed', failure });
  // What does not get smaller may still fit: then the model is called, and the provider has the last word.
  const view = { headEntryId: check.headEntryId, tokens: compaction.tokensBefore };
  const budget = budgetFor(check.policy, check.modelLimits);
  if (reason !== 'overflow' && compaction.tokensBefore <= budget.inputBudget) {
    return { kind: 'committed', view, tokensBefore: compaction.tokensBefore };
  }
  await recordEvent(database, {
    turn,
    kind: 'compaction_exhausted',
    data: { compactionId, failure, tokens: compaction.tokensBefore },
  });
  return { kind: 'exhausted', tokens: compaction.tokensBefore };
}
