import { appendNoteBefore } from '../store/entries.ts';
import { readSpending } from '../store/turn-limits.ts';
import type { CompactContextInput } from '../turn/activity-values.ts';
import { describeLimit, limitCode, nearLimits, spentLimit } from '../turn/spending.ts';
import type { SpendingLimits } from '../turn/spending.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { newText } from './new-content.ts';

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
 * Whether a limit keeps the turn from its next step. Of one that is near the model is told, once a turn, by a note that this
 * step's request shows.
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
    const note = {
      ...newText(describeLimit(near)),
      turn,
      slot: 'continuation',
      key: `limit:${limitCode(near)}`,
    } as const;
    isNoted = (await appendNoteBefore(database, { callNumber, runId }, note)) || isNoted;
    reachCrashPoint('compactContext:limit-noted');
  }
  return { kind: isNoted ? 'noted' : 'free' };
}
