import { composeSummary } from '../context/compose-summary.ts';
import { estimateTokens } from '../context/estimate.ts';
import { renderFileLists, withoutFileLists } from '../context/file-lists.ts';
import { guardedSummary } from '../context/guard-summary.ts';
import { viewAfterCompaction } from '../context/judge-compaction.ts';
import type { Measurements } from '../context/measurements.ts';
import type { Budget } from '../context/plan.ts';
import { measureSummary, presentationOf } from '../context/summary-message.ts';
import type { PartRow } from '../store/compaction-parts.ts';
import type { CompactionRow, NewSummary } from '../store/compactions.ts';
import type { FitCheck, PlanSource } from '../store/fit-check.ts';
import { readPreviousSummary } from '../store/previous-summary.ts';
import type { AgentSnapshot } from '../turn/agent-snapshot.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { listFiles } from './list-files.ts';

/** What a finished plan leads to. */
export interface FinishedCompaction {
  /** `null` when the form writes none. */
  readonly summary: NewSummary | null;
  /** The view, `fixed` included. */
  readonly after: Measurements;
  readonly tokensAfter: number;
  /** Tokens of the view before the summary was shortened to fit; `null` when it fitted. */
  readonly guardedFrom: number | null;
}

interface FinishedParts {
  readonly turn: TurnReference;
  readonly compaction: CompactionRow;
  readonly parts: readonly PartRow[];
  readonly check: FitCheck;
  readonly source: PlanSource;
  readonly budget: Budget;
  readonly snapshot: AgentSnapshot;
}

/** Puts the parts' texts together and measures the view that they lead to; shortens the summary if the policy guards against it. */
export async function finishCompaction(
  dependencies: ActivityDependencies,
  of: FinishedParts,
): Promise<FinishedCompaction> {
  const whole = measured(of, await summaryOf(dependencies, of));
  const { calibration, policy } = of.check;
  if (whole.summary === null) return whole;
  const { tokensAfter } = whole;
  const text = guardedSummary(whole.summary.text, { policy, budget: of.budget, tokensAfter, calibration });
  if (text === whole.summary.text) return whole;
  const { sections } = composeSummary([{ kind: 'merge', text }], null, policy);
  const summary = { ...whole.summary, text, sections, measurements: shownMeasurements(of, text) };
  return { ...measured(of, summary), guardedFrom: whole.tokensAfter };
}

function shownMeasurements({ check, compaction }: FinishedParts, text: string): Measurements {
  return measureSummary(text, presentationOf(check.policy), compaction.plan.shown?.framing);
}

function measured({ compaction, check, source }: FinishedParts, summary: NewSummary | null): FinishedCompaction {
  const { plan, compactionId } = compaction;
  const before = { ...source, fixed: check.fixed };
  const after = viewAfterCompaction(before, plan, compactionId, summary?.measurements ?? null);
  return { summary, after, tokensAfter: estimateTokens(after, check.calibration), guardedFrom: null };
}

/** The text of all parts, with the lists of files below it; `null` when the plan writes no summary. */
async function summaryOf({ database }: ActivityDependencies, of: FinishedParts): Promise<NewSummary | null> {
  const { turn, compaction, check, source, parts, snapshot } = of;
  if (parts.length === 0) return null;
  const { policy } = check;
  const previous = await readPreviousSummary(database, compaction.previousCompactionId);
  const unread = policy.summary.splitTurn === 'separate' ? (previous?.text ?? null) : null;
  const composed = composeSummary(
    parts.map((row) => ({ kind: row.part.kind, text: row.text ?? '' })),
    unread === null ? null : withoutFileLists(unread),
    policy,
  );
  const { conversationId } = turn;
  const { headEntryId } = source;
  const files = await listFiles(database, { conversationId, headEntryId, plan: compaction.plan, previous, policy });
  const lists = policy.summary.fileLists === null ? '' : renderFileLists(files);
  const text = lists === '' ? composed.text : `${composed.text}\n\n${lists}`;
  const byProgram = compaction.form === 'extractive_summary' || parts.every((row) => row.promptVersion === 'hook');
  return {
    text,
    measurements: shownMeasurements(of, text),
    sections: composed.sections,
    files,
    model: byProgram ? null : snapshot.summarizer.model,
    promptVersion: parts.at(-1)?.promptVersion ?? '',
  };
}
