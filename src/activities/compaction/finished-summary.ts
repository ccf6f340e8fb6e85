import type { Budget, PlanPart } from '../../context/plan/plan.ts';
import type { CompactionPolicy } from '../../context/policy/policy.ts';
import { finishedView, wholeSummary } from '../../context/summary/whole-summary.ts';
import type { FinishedView } from '../../context/summary/whole-summary.ts';
import type { PartRow } from '../../store/compactions/compaction-parts.ts';
import type { CompactionRow, NewSummary } from '../../store/compactions/compactions.ts';
import type { Database } from '../../store/database/database.ts';
import type { FitCheck, PlanSource } from '../../store/compactions/fit-check.ts';
import { readPreviousSummary } from '../../store/compactions/previous-summary.ts';
import type { AgentSnapshot } from '../../turn/agent-snapshot.ts';
import { RECALL_OPEN } from '../../tools/runtime/names.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { keepLedger } from './keep-ledger.ts';
import { withoutAnySecrets } from './said-secrets.ts';

/** What a finished plan leads to. */
export interface FinishedCompaction extends FinishedView {
  /** `null` when the form writes none. */
  readonly summary: NewSummary | null;
}

/** Puts the parts' texts together and measures the view that they lead to; shortens the summary if the policy guards against it. */
export async function finishCompaction(
  { database }: ActivityDependencies,
  of: {
    readonly turn: TurnReference;
    readonly compaction: CompactionRow;
    readonly parts: readonly PartRow[];
    readonly check: FitCheck;
    readonly source: PlanSource;
    readonly budget: Budget;
    readonly snapshot: AgentSnapshot;
  },
): Promise<FinishedCompaction> {
  const { turn, compaction, parts, check, source, budget, snapshot } = of;
  const { plan, compactionId } = compaction;
  const { policy, calibration } = check;
  const previous = parts.length === 0 ? null : await readPreviousSummary(database, compaction.previousCompactionId);
  const { conversationId } = turn;
  const { headEntryId } = source;
  const files =
    parts.length === 0 ? NO_FILES : await keepLedger(database, { conversationId, headEntryId, plan, previous, policy });
  const texts = await textsOf(database, { conversationId, parts, policy, compaction });
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

/** A part's text was checked for secrets when it was written. What a hook brought is nobody's but its own: it read the originals (R28). */
async function textsOf(
  database: Database,
  of: {
    readonly conversationId: string;
    readonly parts: readonly PartRow[];
    readonly policy: CompactionPolicy;
    readonly compaction: CompactionRow;
  },
): Promise<readonly { readonly kind: PlanPart['kind']; readonly text: string }[]> {
  const { conversationId, parts, policy, compaction } = of;
  const { headEntryId } = compaction;
  const texts: { kind: PlanPart['kind']; text: string }[] = [];
  for (const row of parts) {
    const { kind, fromSequence = 0, toSequence = 0 } = row.part;
    const written = row.text ?? '';
    const range = { conversationId, headEntryId, fromSequence, toSequence };
    const [text = ''] = isOfHook(row)
      ? await withoutAnySecrets(database, range, { policy, texts: [written] })
      : [written];
    texts.push({ kind, text });
  }
  return texts;
}

function isOfHook(row: PartRow): boolean {
  return row.promptVersion === 'hook';
}

const NO_FILES = { read: [], modified: [] };
