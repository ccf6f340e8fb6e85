/**
 * Values that cross between the workflow and its activities: ids, counts, names and flags, never text. Each argument and result is one
 * plain JSON object, far below the 8 KB of the payload guard, whatever the size of the conversation.
 */
import type { TurnRefusal } from './agent-snapshot.ts';
import type { LoopLimits } from './progress.ts';
import type { TurnOutcome, TurnReference } from './turn-reference.ts';

export interface BeginTurnInput {
  readonly conversationId: string;
}

export type BeginTurnResult =
  | {
      readonly kind: 'begun';
      readonly turn: TurnReference;
      readonly settings: TurnSettings;
      readonly stopRequested: boolean;
    }
  | { readonly kind: 'nothing_waiting' };

/** Settings of a turn that each run of its workflow reads from Postgres. */
export interface TurnSettings {
  readonly facts: TurnFacts;
  /** A command for an idle conversation: the turn has no step. */
  readonly commandOnly: boolean;
  /** A fork or a switch waits: the turn makes it and nothing else. */
  readonly branchRequested?: true;
  readonly loopLimits: LoopLimits;
  /** The turn has a limit of time. */
  readonly isTimed?: true;
  /** Present when the worker cannot run the agent. */
  readonly refusal?: TurnRefusal;
}

/** What the Temporal UI shows of a turn. */
export interface TurnFacts {
  readonly agent: string;
  readonly model: string;
  readonly preset: string;
  /** The model's context window in tokens. */
  readonly window: number;
  /** The policy checks after the last step too. Default: false. */
  readonly checkAfterLastStep?: boolean;
  /** Forced compactions after reported overflows. Default: one. */
  readonly overflowRecoveries?: number;
}

/** Argument of an activity that needs only the turn. */
export interface OfTurn {
  readonly turn: TurnReference;
}

/** Whether a stop waits for the turn. It waits until the turn ends, so a repeated look gives the same answer. */
export interface StopLook {
  readonly stopRequested: boolean;
}

export interface ContinueTurnResult extends StopLook {
  readonly settings: TurnSettings;
}

/** The limit of time that comes first. Milliseconds until then; 0 if it is reached. */
export interface TimeLeft {
  readonly reason: string;
  readonly milliseconds: number;
}

export interface ChangeBranchInput extends OfTurn {
  /** The planned summary was asked for. If it could not be written, the change goes without. Default: false. */
  readonly isSummarized?: boolean;
}

export type ChangeBranchResult =
  | { readonly kind: 'changed' }
  /** The branch that is left is to be summarized first. */
  | { readonly kind: 'planned'; readonly planned: PlannedCompaction }
  | { readonly kind: 'refused'; readonly reason: string };

export interface CompactContextInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** The provider refused the last request as too large, so a compaction is due even if the view seems to fit. */
  readonly forced: 'overflow' | null;
  /** The turn has answered; the view is made smaller for the next turn. Default: false. */
  readonly turnIsOver?: true;
  /** The check runs within the workflow task, whose time is short, so a plan is left to an activity of its own. Default: false. */
  readonly withinTask?: true;
}

/** Which entries and which compaction a model call projects. Nothing else can enter its request. */
export interface ViewReference {
  readonly headEntryId: string;
  /** Tokens by the calibrated estimate. */
  readonly tokens: number;
}

export interface PlannedCompaction {
  readonly compactionId: string;
  /** Part numbers by wave. Empty if the plan only reduces. */
  readonly waves: readonly (readonly PlannedPart[])[];
  readonly tokensBefore: number;
  /** A user asked for it. */
  readonly requested?: true;
}

export interface PlannedPart {
  readonly number: number;
  /** For the summary line in the Temporal UI. */
  readonly label: string;
}

/** `tookMessages`: waiting steering messages became entries of the turn. */
export type CompactContextResult =
  /** `declined`: a compaction was requested, but nothing could be made smaller. */
  | { readonly kind: 'fits'; readonly view: ViewReference; readonly declined?: true; readonly tookMessages?: true }
  | { readonly kind: 'planned'; readonly planned: PlannedCompaction; readonly tookMessages?: true }
  /** A compaction is due, but the check ran within the workflow task. */
  | { readonly kind: 'plan_due'; readonly tookMessages?: true }
  /** A summary is due, and `askHooks` plans it together with the application's hooks. */
  | { readonly kind: 'hooks_due'; readonly tookMessages?: true }
  | { readonly kind: 'exhausted' }
  /** A limit is reached: no further step. */
  | { readonly kind: 'limit'; readonly reason: string };

export interface SummarizeInput {
  readonly turn: TurnReference;
  readonly compactionId: string;
  readonly part: number;
}

export type SummarizeResult =
  | { readonly kind: 'summarized' }
  /** The model failed too often, so the commit plans the next weaker form. */
  | { readonly kind: 'failed' }
  /** A limit is reached, so the model is not asked for this part. */
  | { readonly kind: 'limit'; readonly reason: string };

export interface CommitCompactionInput {
  readonly turn: TurnReference;
  readonly compactionId: string;
}

export type CommitCompactionResult =
  /** `limit`: the summaries' cost reached a limit, so the model is not asked. */
  | { readonly kind: 'committed'; readonly view: ViewReference; readonly limit?: string }
  /** No form helped, but the view fits into the window, so the model may be asked. */
  | { readonly kind: 'kept'; readonly view: ViewReference; readonly limit?: string }
  | { readonly kind: 'planned'; readonly planned: PlannedCompaction }
  /** An entry came after the plan, so the next check makes another plan. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'exhausted' };

export interface CallModelInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly headEntryId: string;
}

/** The tools that an answer calls, each once. Columns, because seventy objects would not fit the payload guard. */
export interface CalledTools {
  /** For the Temporal UI, shortened so that all fit. */
  readonly names: readonly string[];
  readonly timeoutSeconds: readonly number[];
  /** Indexes of tools whose calls run alone. */
  readonly exclusive: readonly number[];
}

/**
 * Why an answer without a tool call is not the last one: it was cut at the maximum output, the vendor paused it, it announced a call that
 * is missing, or it does not fit the requested form.
 */
export type Unfinished = 'answer_cut' | 'answer_paused' | 'call_missing' | 'output_invalid';

export type CallModelResult =
  | {
      readonly kind: 'answered';
      readonly tools: CalledTools;
      /** For each call that may run, in order, the index of its tool in `tools`. 200 objects would not fit the payload guard. */
      readonly calls: readonly number[];
      /** The limit that keeps later calls from running and ends the turn. */
      readonly limit?: string;
      /** Some calls may need a decision; `requestDecisions` says which. */
      readonly asks?: true;
      /** The model goes on in another step. Absent if there are tool calls or the answer is complete. */
      readonly unfinished?: Unfinished;
      /** Dollars including this call; `null` if a price is unknown. */
      readonly turnCost: number | null;
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'overflow' }
  /** `reason`: a code that says more than that the model failed. */
  | { readonly kind: 'failed'; readonly reason?: 'thinking_filled_output' | 'media_too_large' }
  /** The model was given up. The next call asks another one, after a check against its window. */
  | { readonly kind: 'fallback'; readonly model: string; readonly window: number }
  /** The head has moved, or another attempt gave the model up, so the context is checked again. An answer that came meanwhile is lost. */
  | { readonly kind: 'moved' };

export interface RequestDecisionsInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** Calls of the answer that may run, from the first. Nobody is asked about a call that a limit keeps from running. */
  readonly runnable: number;
}

/** Decisions that a turn waits for. */
export interface RequestDecisionsResult {
  /** Calls that wait; 0 if all may go on. */
  readonly waiting: number;
  /** How many of them are questions of the model to the user. */
  readonly questions: number;
  /** Time until the first one expires. */
  readonly expiresInMilliseconds: number;
}

export interface RunToolInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** Position among the calls of the answer, from 0. */
  readonly callIndex: number;
}

export interface RunToolResult {
  readonly state: 'succeeded' | 'failed' | 'outcome_unknown';
  /** Distinguishes this call with its result from others of the turn (src/turn/progress.ts). */
  readonly fingerprint: string;
  /** The call used a recall tool. */
  readonly recall?: true;
}

export interface EndTurnInput {
  readonly turn: TurnReference;
  readonly outcome: TurnOutcome;
  /** Code of the cause, for the user's next step: `step_limit`, `second_overflow` … */
  readonly reason: string | null;
  /** Temporal delivered a cancel, which Postgres does not know. Waiting rows are stopped with the turn. */
  readonly cancelled?: true;
}

export type EndTurnResult =
  /** `waiting`: rows wait for the next turn. */
  | ({ readonly kind: 'ended'; readonly waiting: boolean } & TurnResult)
  /** Nothing was written. The turn goes on with new steering messages. */
  | { readonly kind: 'messages_waiting' };

/** How a turn ended, as stored; also the result of its workflow. */
export interface TurnResult {
  /** `stopped` also for a completed turn that a stop reached. */
  readonly outcome: TurnOutcome;
  /** Code of the cause. */
  readonly reason: string | null;
  /** What happened and what to do, in fixed words, because Temporal shows it. */
  readonly explanation: string;
  /** Answered model calls. */
  readonly steps: number;
  /** Dollars; `null` if the price of a call is unknown. */
  readonly cost: number | null;
}

/** Messages of a turn's workflow to the worker that runs it. */
export type WorkSinks = {
  readonly work: {
    /** @param activityId of a cancelled activity, unique in the run and ascending */
    cancelled(activityId: number): void;
  };
};
