import type { PlanPart, CompactionPlan } from '../../context/plan/plan.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import {
  extendFileLists,
  LEDGER_LENGTH,
  callSubject,
  extendLedger,
  shortSubject,
} from '../../context/summary/summary-message.ts';
import type { FileLists, SummaryLedger, LedgerResult } from '../../context/summary/summary-message.ts';
import { finishedView, wholeSummary } from '../../context/summary/whole-summary.ts';
import type { FinishedView } from '../../context/summary/whole-summary.ts';
import type { PartRow } from '../../store/compactions/compaction-parts.ts';
import type { CompactionRow } from '../../store/compactions/compactions.ts';
import type { NewSummary } from '../../store/compactions/commit-compaction.ts';
import type { PlanSource } from '../../store/compactions/fit-check.ts';
import type { CountedFit } from './plan-compaction.ts';
import { readPreviousSummary } from '../../store/compactions/compactions.ts';
import { readCallsOf, readResultsOf } from '../../store/compactions/originals.ts';
import type { OriginalsRange } from '../../store/compactions/originals.ts';
import type { Database } from '../../store/database/database.ts';
import { RECALL_OPEN, RECALL_SEARCH } from '../../tools/runtime/names.ts';
import { redactSecrets, redactTexts } from '../../tools/runtime/redact-secrets.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/** The result of a finished plan. */
export interface FinishedCompaction extends FinishedView {
  /** `null` if the form writes none. */
  readonly summary: NewSummary | null;
}

/** Joins the texts of the parts, measures the resulting view, and shortens the summary if the policy has a guard. */
export async function finishCompaction(
  { database }: ActivityDependencies,
  of: {
    readonly turn: TurnReference;
    readonly compaction: CompactionRow;
    readonly parts: readonly PartRow[];
    readonly check: CountedFit;
    readonly source: PlanSource;
    readonly snapshot: AgentSnapshot;
  },
): Promise<FinishedCompaction> {
  const { turn, compaction, parts, check, source, snapshot } = of;
  const { plan, compactionId } = compaction;
  const { policy, calibration, budget } = check;
  const previous = parts.length === 0 ? null : await readPreviousSummary(database, compaction.previousCompactionId);
  const { conversationId } = turn;
  const { headEntryId } = source;
  const files =
    parts.length === 0 ? EMPTY : await keepLedger(database, { conversationId, headEntryId, plan, previous, policy });
  const texts = await Promise.all(parts.map(textOfPart));
  const previousText = previous?.text ?? null;
  const recall = snapshot.tools.some((tool) => tool.name === RECALL_OPEN);
  const whole = wholeSummary({ parts: texts, previousText, files, policy, budget, plan, recall });
  const before = { ...source, fixed: check.fixed };
  const finished = finishedView(whole, { before, plan, compactionId, policy, budget, calibration });
  if (finished.summary === null) return { ...finished, summary: null };
  const byProgram = compaction.form === 'extractive_summary' || parts.every(isOfHook);
  const model = byProgram ? null : snapshot.summarizer.model;
  const promptVersion = parts.at(-1)?.promptVersion ?? '';
  return { ...finished, summary: { ...finished.summary, files, model, promptVersion } };
}

/** A part's text was checked for secrets when it was written. A hook's text was not, and the hook read the originals (R28). */
async function textOfPart(row: PartRow): Promise<{ readonly kind: PlanPart['kind']; readonly text: string }> {
  const text = row.text ?? '';
  return { kind: row.part.kind, text: isOfHook(row) ? (await redactSecrets(text)).text : text };
}

function isOfHook(row: PartRow): boolean {
  return row.promptVersion === 'hook';
}

const EMPTY: SummaryLedger = { read: [], modified: [] };

interface LedgerPass {
  readonly conversationId: string;
  readonly headEntryId: string;
  readonly plan: CompactionPlan;
  readonly previous: { readonly files: SummaryLedger } | null;
  readonly policy: CompactionPolicy;
}

/**
 * The ledger after a compaction (R18): the last ledger, and the files and results of calls that leave the view. It is below the summary
 * and becomes a memory with it, so it has no secrets either (R28).
 */
export async function keepLedger(database: Database, pass: LedgerPass): Promise<SummaryLedger> {
  const { conversationId, headEntryId, plan, previous, policy } = pass;
  const earlier = previous?.files ?? EMPTY;
  const fromSequence = plan.parts.find((part) => part.fromSequence !== undefined)?.fromSequence;
  const { coveredThroughSequence: toSequence } = plan;
  if (toSequence === null || fromSequence === undefined) return earlier;
  const range = { conversationId, headEntryId, fromSequence, toSequence };
  const { read, modified } = await filesOf(database, range, { earlier, policy });
  // Results of the recall tools are not work of their own.
  const calls = await readResultsOf(database, range, { not: [RECALL_OPEN, RECALL_SEARCH], newest: LEDGER_LENGTH });
  const subjects = calls.map((call) => callSubject(call.arguments));
  const { texts: told } = await redactTexts([...subjects, ...read, ...modified]);
  const results = calls.map(({ entryId, tool, outcome, characters }, index): LedgerResult => {
    return { entryId, tool, target: shortSubject(told[index] ?? ''), outcome, characters };
  });
  const files = told.slice(subjects.length);
  return {
    read: eachOnce(files.slice(0, read.length)),
    modified: eachOnce(files.slice(read.length)),
    results: extendLedger(earlier.results ?? [], results),
  };
}

async function filesOf(
  database: Database,
  range: OriginalsRange,
  { earlier, policy }: { readonly earlier: SummaryLedger; readonly policy: CompactionPolicy },
): Promise<FileLists> {
  const { fileLists: tools } = policy.summary;
  if (tools === null) return earlier;
  return extendFileLists({
    earlier,
    calls: await readCallsOf(database, range, [...tools.read, ...tools.modified]),
    tools,
  });
}

function eachOnce(files: readonly string[]): readonly string[] {
  return [...new Set(files)];
}
