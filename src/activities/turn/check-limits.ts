import type { FitCheck } from '../../store/compactions/fit-check.ts';
import type { Queries } from '../../store/database/database.ts';
import { appendNoteBefore, newText } from '../../store/log/entries.ts';
import type { NoteRequest } from '../../store/log/entries.ts';
import { readTimeUse, readLimits, readSpending } from '../../store/turns/turn-limits.ts';
import type { CompactContextInput, OfTurn, TimeLeft } from '../../turn/activity-values.ts';
import {
  describeLimit,
  isOfSteps,
  limitCode,
  nearLimits,
  spentLimit,
  stepsUsed,
  nextTimeLimit,
} from '../../turn/spending.ts';
import type { LimitUse } from '../../turn/spending.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/** The limit that keeps the turn from asking a model, or `null`. Also checked inside a compaction, whose summaries cost like answers. */
export async function reachedLimit({ database }: ActivityDependencies, turn: TurnReference): Promise<string | null> {
  const limits = await readLimits(database, turn);
  const spent = spentLimit(limits, await readSpending(database, turn, limits));
  return spent === null ? null : limitCode(spent);
}

/** Whether the conversation has nothing left for a summary of a branch. Its idle time does not matter here. */
export async function isConversationSpent({ database }: ActivityDependencies, turn: TurnReference): Promise<boolean> {
  const limits = await readLimits(database, turn);
  const { idleTime: _, ...conversation } = limits.conversation;
  if (Object.keys(conversation).length === 0) return false;
  const ofConversation = { ...limits, turn: {}, conversation };
  return spentLimit(ofConversation, await readSpending(database, turn, ofConversation)) !== null;
}

interface LimitCheck {
  /** The limit that keeps the turn from its next step, or `null`. */
  readonly spent: string | null;
  /** Limits that the model must be told about. */
  readonly near: readonly LimitUse[];
}

export async function checkLimits(
  { database }: ActivityDependencies,
  turn: TurnReference,
  { limits, steps }: Pick<FitCheck, 'limits' | 'steps'>,
): Promise<LimitCheck> {
  // Most turns limit only their steps, whose number came with the check.
  const used = isOfSteps(limits) ? stepsUsed(steps) : await readSpending(database, turn, limits);
  const spent = spentLimit(limits, used);
  return { spent: spent === null ? null : limitCode(spent), near: nearLimits(limits, used) };
}

/**
 * Tells the model of a near limit by a note in this step's request: once a turn, and again after a compaction, which may remove the note
 * from the view.
 * @returns whether a note was appended, so that the head has moved
 */
export async function noteLimits(
  { database }: ActivityDependencies,
  { turn, callNumber }: CompactContextInput,
  { near, runId }: { readonly near: readonly LimitUse[]; readonly runId: string },
): Promise<boolean> {
  let isNoted = false;
  for (const each of near) {
    const note = await appendNoteBefore(database, { callNumber, runId }, limitNote(turn, each));
    isNoted ||= note?.isNew === true;
  }
  return isNoted;
}

function limitNote(turn: TurnReference, near: LimitUse): NoteRequest {
  const key = `limit:${limitCode(near)}`;
  return { ...newText(describeLimit(near)), turn, slot: 'continuation', key, againAfterCompactions: true };
}

/** Notes about near limits. None once a limit is reached, which ends the turn. */
export async function limitNotes(sql: Queries, turn: TurnReference): Promise<readonly NoteRequest[]> {
  const limits = await readLimits(sql, turn);
  const used = await readSpending(sql, turn, limits);
  return spentLimit(limits, used) === null ? nearLimits(limits, used).map((near) => limitNote(turn, near)) : [];
}

/** For a turn with a limit of time. */
export async function readTimeLeft({ database }: ActivityDependencies, { turn }: OfTurn): Promise<TimeLeft> {
  const [limits, used] = await Promise.all([readLimits(database, turn), readTimeUse(database, turn)]);
  const { reason, left } = nextTimeLimit(limits, used);
  return { reason, milliseconds: Math.max(0, Math.ceil(left * 1_000)) };
}
