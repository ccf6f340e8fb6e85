import { budgetFor } from '../../context/policy/budget.ts';
import { estimateTokens, NO_CALIBRATION } from '../../context/log/estimate.ts';
import type { CallBoundary } from '../../store/attempts/call-boundary.ts';
import { appendNoteBefore } from '../../store/log/entries.ts';
import type { NoteRequest } from '../../store/log/entries.ts';
import { LIMIT_NOTE_KEY } from '../../store/log/notes.ts';
import { readSpending } from '../../store/turns/turn-limits.ts';
import { readSnapshot } from '../../store/turns/turns.ts';
import type { CommitCompactionInput, CommitCompactionResult, CompactContextInput } from '../../turn/activity-values.ts';
import { describeLimit, limitCode, nearLimits, spentLimit } from '../../turn/spending.ts';
import type { LimitUse, SpendingLimits } from '../../turn/spending.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';
import { newText } from '../runtime/new-content.ts';

/** The limit that keeps the turn from asking a model, or `null`; also inside a compaction, whose summaries are paid as answers are. */
export async function reachedLimit(
  { database }: ActivityDependencies,
  turn: TurnReference,
  limits: SpendingLimits | undefined,
): Promise<string | null> {
  if (limits === undefined) return null;
  const spent = spentLimit(limits, await readSpending(database, turn, limits));
  return spent === null ? null : limitCode(spent);
}

/** Whether the conversation has none left of what a summary of a branch would use. How long it rested does not matter to that. */
export async function isConversationSpent(
  dependencies: ActivityDependencies,
  turn: TurnReference,
  limits: SpendingLimits | undefined,
): Promise<boolean> {
  if (limits === undefined) return false;
  const conversation = { ...limits.conversation, idleTime: Infinity };
  return (await reachedLimit(dependencies, turn, { ...limits, turn: {}, conversation })) !== null;
}

export type LimitCheck =
  | { readonly kind: 'free' }
  /** A note of one that is near was appended now: the head has moved. */
  | { readonly kind: 'noted' }
  | { readonly kind: 'spent'; readonly code: string };

/**
 * Whether a limit keeps the turn from its next step. Of one that is near the model is told by a note that this step's request
 * shows: once a turn, and again behind a compaction, which may take the note from the view.
 */
export async function checkLimits(
  { database, reachCrashPoint }: ActivityDependencies,
  { turn, callNumber, limits, turnIsOver }: CompactContextInput,
  runId: string,
): Promise<LimitCheck> {
  if (limits === undefined || turnIsOver === true) return { kind: 'free' };
  const used = await readSpending(database, turn, limits);
  const spent = spentLimit(limits, used);
  if (spent !== null) return { kind: 'spent', code: limitCode(spent) };
  let isNoted = false;
  for (const near of nearLimits(limits, used)) {
    const note = await appendNoteBefore(database, { callNumber, runId }, limitNote(turn, near));
    isNoted ||= note?.isNew === true;
    reachCrashPoint('compactContext:limit-noted');
  }
  return { kind: isNoted ? 'noted' : 'free' };
}

function limitNote(turn: TurnReference, near: LimitUse): NoteRequest {
  const key = `${LIMIT_NOTE_KEY}${limitCode(near)}`;
  return { ...newText(describeLimit(near)), turn, slot: 'continuation', key, againAfterCompactions: true };
}

/**
 * The same behind a compaction, which has no check of its own before the model is asked: what its summaries cost may have reached a
 * limit, and the note of one that is near went with what it covers.
 */
export async function checkLimitsAfter(
  { database, reachCrashPoint }: ActivityDependencies,
  {
    turn,
    limits,
    boundary,
  }: Pick<CommitCompactionInput, 'turn' | 'limits'> & { readonly boundary: CallBoundary | null },
  result: CommitCompactionResult,
): Promise<CommitCompactionResult> {
  if (result.kind !== 'committed' || limits === undefined) return result;
  const used = await readSpending(database, turn, limits);
  const spent = spentLimit(limits, used);
  if (spent !== null) return { ...result, limit: limitCode(spent) };
  const near = boundary === null ? [] : nearLimits(limits, used);
  if (boundary === null || near.length === 0) return result;
  const { snapshot } = await readSnapshot(database, turn.turnId);
  const { inputBudget } = budgetFor(snapshot.policy, snapshot.modelLimits);
  let { view } = result;
  for (const each of near) {
    const request = limitNote(turn, each);
    const tokens = view.tokens + estimateTokens(request.measurements, NO_CALIBRATION);
    if (tokens > inputBudget) break;
    const note = await appendNoteBefore(database, boundary, request);
    if (note === null) break;
    reachCrashPoint('commitCompaction:limit-noted');
    view = { headEntryId: note.entryId, tokens };
  }
  return { ...result, view };
}
