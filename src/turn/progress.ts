import type { TurnSettings, Unfinished, ViewReference } from './activity-values.ts';
import type { TurnReference } from './turn-reference.ts';

/**
 * What a turn hands over to its next run. It survives through Temporal's history every crash, so a guard that lives here cannot be
 * reset by a kill; all else is read from Postgres.
 */
export interface TurnCarryOver {
  readonly turn: TurnReference;
  /** Last call number used; retries of a call share one, a call after an overflow gets its own. */
  callNumber: number;
  /** Model calls that were answered. */
  steps: number;
  /** Compactions committed. */
  compactions: number;
  /** Forced compactions after a reported overflow: one per turn and model, or as many as the policy allows. */
  overflowRecoveries: number;
  /** The next compactContext must plan, and why. */
  forced: 'overflow' | null;
  /** Answers in a row that were unfinished for one reason, and continued. Absent: none since something new was done. */
  continued?: { readonly reason: Unfinished; readonly times: number };
  loopGuard: LoopGuard;
  /** What the newest answer was made of, when the run before left while people were to decide on its tool calls. */
  undecided?: ViewReference;
}

/** All that a turn keeps in workflow state. */
export interface TurnProgress extends TurnCarryOver {
  /** `facts` are replaced when another model takes over. */
  settings: TurnSettings;
  /** People are to decide: that time counts neither as work nor as idleness. */
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

/** Whether another step follows an unfinished answer; what the vendor paused goes on as long as the turn may. */
export function isContinued(progress: TurnProgress, reason: Unfinished | undefined): boolean {
  if (reason === undefined) return false;
  const times = progress.continued?.reason === reason ? progress.continued.times : 0;
  const once = reason === 'call_missing' || reason === 'output_invalid';
  const most = once ? 1 : progress.settings.loopLimits.continuations;
  if (times >= most && reason !== 'answer_paused') return false;
  progress.continued = { reason, times: times + 1 };
  return true;
}

/** When a turn counts as going round in circles. Each limit is one of `agents.<name>.limits` in `holdfast.yaml`. */
export interface LoopLimits {
  /** Times that one tool call may have the same result while no call has a new one. */
  readonly repeatedCalls: number;
  /** Compactions in a row between which nothing new was done; one between which something was only looked up again counts half. */
  readonly compactionsWithoutProgress: number;
  /** Answers in a row that are cut at the maximum output and continued automatically, with no new tool result between them. */
  readonly continuations: number;
}

/** Defaults: polling ten times is common; two fruitless compactions and three continuations are the checklist's (R6). */
export const DEFAULT_LOOP_LIMITS: LoopLimits = { repeatedCalls: 10, compactionsWithoutProgress: 2, continuations: 3 };

/** Calls remembered. A cycle longer than this is not recognized; all of them fit a payload of 8 KB on continue-as-new. */
const REMEMBERED_CALLS = 150;

/** What the guard remembers of a turn; part of its carry-over, so plain data. */
export interface LoopGuard {
  /** Fingerprints of calls with their results, oldest first, each once. */
  readonly seen: readonly string[];
  /** How often each known call came back since the newest progress. */
  readonly repeats: Readonly<Record<string, number>>;
  /** Compactions in a row without progress, those with a new recall between them as halves. */
  readonly fruitlessCompactions: number;
  /** The best that happened since the newest compaction. */
  readonly sinceCompaction: 'progress' | 'recall' | 'nothing';
}

export const NEW_LOOP_GUARD: LoopGuard = {
  seen: [],
  repeats: {},
  fruitlessCompactions: 0,
  sinceCompaction: 'progress',
};

type LoopReason = 'calls_repeated' | 'compactions_without_progress';

/** What is known of a tool call that has ended. */
export interface EndedCall {
  /** Tells the call with its result from others of the turn; `null` when it is not known, which counts as progress. */
  readonly fingerprint: string | null;
  /** It brought back what the conversation held already: work on the task only if something is then done with it. */
  readonly recall: boolean;
}

/** Whether the turn sees the call with this result for the first time; of what is not known it does. */
export function isNewResult({ seen }: LoopGuard, { fingerprint }: EndedCall): boolean {
  return fingerprint === null || !seen.includes(fingerprint);
}

/** A tool call has ended. What was not seen before is progress, unless it was only looked up again. */
export function noteToolResult(guard: LoopGuard, { fingerprint, recall }: EndedCall): LoopGuard {
  if (fingerprint === null) return noteProgress(guard);
  if (isNewResult(guard, { fingerprint, recall })) {
    const noted = recall ? noteRecall(guard) : noteProgress(guard);
    return { ...noted, seen: [...guard.seen, fingerprint].slice(-REMEMBERED_CALLS) };
  }
  return { ...guard, repeats: { ...guard.repeats, [fingerprint]: (guard.repeats[fingerprint] ?? 1) + 1 } };
}

/** Something new: a result, or a message of the user. */
export function noteProgress(guard: LoopGuard): LoopGuard {
  return { ...guard, repeats: {}, fruitlessCompactions: 0, sinceCompaction: 'progress' };
}

function noteRecall(guard: LoopGuard): LoopGuard {
  const { sinceCompaction } = guard;
  return { ...guard, repeats: {}, sinceCompaction: sinceCompaction === 'nothing' ? 'recall' : sinceCompaction };
}

/** What a compaction adds, by what happened since the one before. */
const FRUITLESS = { progress: 0, recall: 0.5, nothing: 1 } as const;

/** The window was full and the view was compacted. One that the user asked for is not told. */
export function noteCompaction(guard: LoopGuard): LoopGuard {
  return {
    ...guard,
    fruitlessCompactions: guard.fruitlessCompactions + FRUITLESS[guard.sinceCompaction],
    sinceCompaction: 'nothing',
  };
}

/** Why the turn must end before its next model call; `null` while it gets on. */
export function findLoop(guard: LoopGuard, limits: LoopLimits): LoopReason | null {
  if (Object.values(guard.repeats).some((times) => times >= limits.repeatedCalls)) return 'calls_repeated';
  return guard.fruitlessCompactions >= limits.compactionsWithoutProgress ? 'compactions_without_progress' : null;
}
