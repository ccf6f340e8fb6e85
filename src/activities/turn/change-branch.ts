import { estimateTokens } from '../../context/log/estimate.ts';
import { branchPlan, branchRoom, branchSummaryText } from '../../context/summary/branch-summary.ts';
import { readBranchCommand } from '../../store/conversations/branch-commands.ts';
import type { BranchCommand } from '../../store/conversations/branch-commands.ts';
import * as store from '../../store/conversations/change-branch.ts';
import type { NewBranchSummary } from '../../store/conversations/change-branch.ts';
import { measureLeftBranch, readEarlierBranchSummary, readLeftFiles } from '../../store/conversations/left-branch.ts';
import { listParts } from '../../store/compactions/compaction-parts.ts';
import type { PartRow } from '../../store/compactions/compaction-parts.ts';
import { storeBranchPlan } from '../../store/compactions/compactions.ts';
import type { CompactionRow } from '../../store/compactions/compactions.ts';
import type { Database } from '../../store/database/database.ts';
import { newText } from '../../store/log/entries.ts';
import { readCalibration } from '../../store/providers/calibrations.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import type { ChangeBranchInput, ChangeBranchResult } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { describePlan } from '../compaction/plan-compaction.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/**
 * Makes the waiting fork or switch in one transaction. If it needs a summary of the branch that is left, the first call plans that as the
 * only part of a compaction. It never fails for lack of a summary.
 */
export async function changeBranch(
  { database }: ActivityDependencies,
  { turn, isSummarized = false }: ChangeBranchInput,
): Promise<ChangeBranchResult> {
  const read = await readBranchCommand(database, turn);
  // An attempt whose result was lost made or refused it.
  if (read.kind === 'none') {
    const reason = await store.readRefusal(database, turn);
    return reason === null ? { kind: 'changed' } : { kind: 'refused', reason };
  }
  if (read.kind === 'refused') {
    await store.refuseBranchCommand(database, turn, read);
    return { kind: 'refused', reason: read.refusal };
  }
  const { command } = read;
  const earlier = command.summarizes
    ? await readEarlierBranchSummary(database, turn.conversationId, command)
    : ({ kind: 'told' } as const);
  let summary = earlier.kind === 'written' ? earlier.summary : null;
  if (earlier.kind === 'none') {
    const plan = await planSummary(database, turn, command);
    const [part] = await listParts(database, plan.compactionId);
    if (part?.state === 'written') summary = await writtenSummary(database, turn, { command, part });
    else if (!isSummarized) return { kind: 'planned', planned: describePlan(plan) };
  }
  await store.changeBranch(database, turn, command, summary);
  return { kind: 'changed' };
}

/** Planned only for entries that have no summary yet, so going back and forth costs nothing. */
async function planSummary(database: Database, turn: TurnReference, command: BranchCommand): Promise<CompactionRow> {
  const { conversationId } = turn;
  const [{ snapshot }, size] = await Promise.all([
    readSnapshot(database, turn.turnId),
    measureLeftBranch(database, { conversationId, command }),
  ]);
  const { policy, summarizer } = snapshot;
  const calibration = await readCalibration(database, { ...turn, ...summarizer });
  return storeBranchPlan(database, {
    turn,
    preset: policy.name,
    headEntryId: command.from.headEntryId ?? '',
    plan: branchPlan({
      fromSequence: command.ancestorSequence + 1,
      toSequence: command.from.headSequence,
      inputTokens: Math.min(estimateTokens(size, calibration), branchRoom(policy, summarizer.limits)),
      maximumOutput: summarizer.limits.maximumOutput,
    }),
  });
}

async function writtenSummary(
  database: Database,
  { conversationId }: TurnReference,
  { command, part }: { readonly command: BranchCommand; readonly part: PartRow },
): Promise<NewBranchSummary> {
  const files = await readLeftFiles(database, { conversationId, command });
  // The names of files were not checked yet.
  const { text } = await redactSecrets(branchSummaryText(part.text ?? '', files));
  return { ...newText(text), files, model: part.model, promptVersion: part.promptVersion ?? '' };
}
