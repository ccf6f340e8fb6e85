import type { ForcedReason, TurnFacts, Unfinished, ViewReference } from './activity-values.ts';
import type { TurnRefusal } from './agent-snapshot.ts';
import { NEW_LOOP_GUARD } from './loop-guard.ts';
import type { LoopGuard, LoopLimits } from './loop-guard.ts';
import type { ConversationRest, SpendingLimits } from './spending.ts';
import type { TurnReference } from './turn-reference.ts';

/** What the limits of time are measured with. Waits for people do not count. */
export interface TurnClock {
  readonly begunAt: number;
  newsAt: number;
  /** Milliseconds that the turn waited for people. */
  waited: number;
  /** Since when it waits for people; absent while it does not. */
  waitingSince?: number;
}

/**
 * All that a turn keeps in workflow state. Survives continue-as-new inside the turn, and through
 * Temporal's history every crash; so a guard that lives here cannot be reset by a kill.
 */
export interface TurnProgress {
  readonly turn: TurnReference;
  /** Replaced when another model takes over. */
  facts: TurnFacts;
  readonly stepLimit: number;
  /** Absent when only the steps are limited. */
  readonly limits?: SpendingLimits;
  /** What limits of the conversation left when the turn began. Absent when it has none. */
  readonly conversationRest?: ConversationRest;
  /** Tool calls that the model asked for. */
  toolCalls: number;
  /** When the turn began, and when it last got on, by the workflow's clock; present when a time is limited. Milliseconds since 1970. */
  clock?: TurnClock;
  readonly loopLimits: LoopLimits;
  loopGuard: LoopGuard;
  /** A command for an idle conversation: a turn with no step. */
  readonly commandOnly: boolean;
  /** A fork or a switch waits: the turn does that and nothing else. */
  readonly branchRequested?: true;
  /** A stop waits and is obeyed before anything else. */
  stopRequested: boolean;
  /** Last call number used; retries of a call share one, a call after an overflow gets its own. */
  callNumber: number;
  /** Model calls that were answered. */
  steps: number;
  /** Forced compactions after a reported overflow: one per turn and model, or as many as the policy allows. */
  overflowRecoveries: number;
  /** Compactions committed. */
  compactions: number;
  /** Answers in a row that were unfinished for one reason, and continued. Absent: none since something new was done. */
  continued?: { readonly reason: Unfinished; readonly times: number };
  /** Present while the check after the last answer goes on: no step follows it unless a message came. */
  lastAnswer?: { readonly unfinished?: Unfinished };
  /** What the newest answer was made of, when the run before left while people were to decide on its tool calls. */
  undecided?: ViewReference;
  /** The next compactContext must plan, and why. */
  forced: ForcedReason | null;
  /** A doorbell was rung for messages that wait for the step boundary. */
  steeringWaiting: boolean;
  /** Goes up when something that consumes rows of the inbox begins, and when it ends: odd while it runs. Absent before the first. */
  consumptions?: number;
  /** Tool calls of the newest answer that wait for a person, as the inbox saw it last. Absent before the first. */
  decisionsWaiting?: number;
  /** The worker cannot run the agent: the turn ends before its first step. */
  readonly refusal?: TurnRefusal;
}

/** Argument of a continued run: a version, so that a later release can read what an older one left. */
export interface TurnCarryOver {
  readonly version: 1;
  readonly progress: TurnProgress;
}

export function startProgress(
  begun: Pick<
    TurnProgress,
    | 'turn'
    | 'facts'
    | 'stepLimit'
    | 'loopLimits'
    | 'limits'
    | 'conversationRest'
    | 'commandOnly'
    | 'branchRequested'
    | 'stopRequested'
    | 'refusal'
  > & {
    readonly compactRequested: boolean;
  },
): TurnProgress {
  return {
    turn: begun.turn,
    facts: begun.facts,
    stepLimit: begun.stepLimit,
    loopLimits: begun.loopLimits,
    ...(begun.limits !== undefined && { limits: begun.limits }),
    ...(begun.conversationRest !== undefined && { conversationRest: begun.conversationRest }),
    toolCalls: 0,
    loopGuard: NEW_LOOP_GUARD,
    commandOnly: begun.commandOnly,
    ...(begun.branchRequested === true && { branchRequested: true }),
    stopRequested: begun.stopRequested,
    callNumber: 0,
    steps: 0,
    overflowRecoveries: 0,
    compactions: 0,
    forced: begun.compactRequested ? 'manual' : null,
    steeringWaiting: false,
    ...(begun.refusal !== undefined && { refusal: begun.refusal }),
  };
}

export function carryOver(progress: TurnProgress): TurnCarryOver {
  return { version: 1, progress };
}
