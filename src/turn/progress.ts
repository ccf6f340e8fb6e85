import type { TurnSettings, Unfinished, ViewReference } from './activity-values.ts';
import type { TurnReference } from './turn-reference.ts';

/**
 * What a turn carries over to its next run. Temporal's history keeps it through every crash, so a kill cannot reset a guard that lives
 * here. Everything else is read from Postgres.
 */
export interface TurnCarryOver {
  readonly turn: TurnReference;
  /** Last call number. Retries of a call share it; a call after an overflow gets a new one. */
  callNumber: number;
  /** Answered model calls. */
  steps: number;
  /** Committed compactions. */
  compactions: number;
  /** Forced compactions after a reported overflow: one per turn and model, or as many as the policy allows. */
  overflowRecoveries: number;
  /** Why the next compactContext must plan. */
  forced: 'overflow' | null;
  /** Unfinished answers in a row that were continued for one reason. Absent after progress. */
  continued?: { readonly reason: Unfinished; readonly times: number };
  loopGuard: LoopGuard;
  /** The view of the newest answer, if the last run ended while people were deciding on its tool calls. */
  undecided?: ViewReference;
}

/** All that a turn keeps in workflow state. */
export interface TurnProgress extends TurnCarryOver {
  /** `facts` are replaced when another model takes over. */
  settings: TurnSettings;
  /** People are deciding. This time counts neither as work nor as idle time. */
  waitsForPeople: boolean;
}

export function startProgress({
  turn,
  settings,
}: {
  readonly turn: TurnReference;
  readonly settings: TurnSettings;
}): TurnProgress {
  return {
    turn,
    settings,
    callNumber: 0,
    steps: 0,
    compactions: 0,
    overflowRecoveries: 0,
    forced: null,
    loopGuard: NEW_LOOP_GUARD,
    waitsForPeople: false,
  };
}

export function carryOver(progress: TurnProgress): TurnCarryOver {
  const { settings: _, waitsForPeople: __, ...carried } = progress;
  return carried;
}

export function goOn(carried: TurnCarryOver, settings: TurnSettings): TurnProgress {
  return { ...carried, settings, waitsForPeople: false };
}

/**
 * Counts another step for an unfinished answer, unless it had its number of them. One that the vendor paused continues as long as the turn
 * may.
 * @returns whether the step follows
 */
export function continueUnfinished(progress: TurnProgress, reason: Unfinished | undefined): boolean {
  if (reason === undefined) return false;
  const times = progress.continued?.reason === reason ? progress.continued.times : 0;
  const once = reason === 'call_missing' || reason === 'output_invalid';
  const most = once ? 1 : progress.settings.loopLimits.continuations;
  if (times >= most && reason !== 'answer_paused') return false;
  progress.continued = { reason, times: times + 1 };
  return true;
}

/** When a turn counts as looping. Each limit is one of `agents.<name>.limits` in `holdfast.yaml`. */
export interface LoopLimits {
  /** Times that a tool call may bring the same result while no call brings a new one. */
  readonly repeatedCalls: number;
  /** Compactions in a row without progress between them. If something was only looked up between two, a compaction counts half. */
  readonly compactionsWithoutProgress: number;
  /** Answers in a row that are cut at the maximum output and continued, without a new tool result between them. */
  readonly continuations: number;
}

/** Defaults: polling ten times is common; two fruitless compactions and three continuations are the checklist's (R6). */
export const DEFAULT_LOOP_LIMITS: LoopLimits = { repeatedCalls: 10, compactionsWithoutProgress: 2, continuations: 3 };

/** A longer cycle is not recognized. So many calls fit the payload of 8 KB on continue-as-new. */
const REMEMBERED_CALLS = 150;

/** State of the loop guard. Part of the carry-over, so plain data. */
export interface LoopGuard {
  /** Fingerprints of calls with their results, oldest first, each once. */
  readonly seen: readonly string[];
  /** How often each known call returned since the newest progress. */
  readonly repeats: Readonly<Record<string, number>>;
  /** Compactions in a row without progress. One with a new recall before it counts half. */
  readonly fruitlessCompactions: number;
  /** The best event since the newest compaction. */
  readonly sinceCompaction: 'progress' | 'recall' | 'nothing';
}

export const NEW_LOOP_GUARD: LoopGuard = {
  seen: [],
  repeats: {},
  fruitlessCompactions: 0,
  sinceCompaction: 'progress',
};

type LoopReason = 'calls_repeated' | 'compactions_without_progress';

/** A tool call that has ended. */
export interface EndedCall {
  /** Distinguishes the call with its result from others of the turn. */
  readonly fingerprint: string;
  /** The call returned what the conversation held already. It counts as progress only if the task goes on afterwards. */
  readonly recall: boolean;
}

/** Whether the turn sees the call with this result for the first time. */
export function isNewResult({ seen }: LoopGuard, { fingerprint }: EndedCall): boolean {
  return !seen.includes(fingerprint);
}

/** Notes a tool result. A new result is progress, unless it was only looked up. */
export function noteToolResult(guard: LoopGuard, { fingerprint, recall }: EndedCall): LoopGuard {
  if (isNewResult(guard, { fingerprint, recall })) {
    const noted = recall ? noteRecall(guard) : noteProgress(guard);
    return { ...noted, seen: [...guard.seen, fingerprint].slice(-REMEMBERED_CALLS) };
  }
  return { ...guard, repeats: { ...guard.repeats, [fingerprint]: (guard.repeats[fingerprint] ?? 1) + 1 } };
}

/** Notes progress: a new result, or a message of the user. */
export function noteProgress(guard: LoopGuard): LoopGuard {
  return { ...guard, repeats: {}, fruitlessCompactions: 0, sinceCompaction: 'progress' };
}

function noteRecall(guard: LoopGuard): LoopGuard {
  const { sinceCompaction } = guard;
  return { ...guard, repeats: {}, sinceCompaction: sinceCompaction === 'nothing' ? 'recall' : sinceCompaction };
}

/** What a compaction adds, by the best event since the last one. */
const FRUITLESS = { progress: 0, recall: 0.5, nothing: 1 } as const;

/** Notes a compaction of a full window. Do not call it for one that a user asked for. */
export function noteCompaction(guard: LoopGuard): LoopGuard {
  return {
    ...guard,
    fruitlessCompactions: guard.fruitlessCompactions + FRUITLESS[guard.sinceCompaction],
    sinceCompaction: 'nothing',
  };
}

/** Why the turn must end before its next model call; `null` while it makes progress. */
export function findLoop(guard: LoopGuard, limits: LoopLimits): LoopReason | null {
  if (Object.values(guard.repeats).some((times) => times >= limits.repeatedCalls)) return 'calls_repeated';
  return guard.fruitlessCompactions >= limits.compactionsWithoutProgress ? 'compactions_without_progress' : null;
}
