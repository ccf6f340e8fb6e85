import type { TurnSettings, Unfinished, ViewReference } from './activity-values.ts';
import { NEW_LOOP_GUARD } from './loop-guard.ts';
import type { LoopGuard } from './loop-guard.ts';
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
