/**
 * What crosses the border between the workflow and its activities: ids, counts, names and flags,
 * never text. Each argument and result is one plain JSON object, far below the 8 KB that the
 * payload guard allows, whatever the size of the conversation.
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

/** What holds for a turn from its beginning on: each run of its workflow reads it from Postgres. */
export interface TurnSettings {
  readonly facts: TurnFacts;
  /** A command for an idle conversation: a turn with no step. */
  readonly commandOnly: boolean;
  /** A fork or a switch waits: the turn does that and nothing else. */
  readonly branchRequested?: true;
  readonly loopLimits: LoopLimits;
  /** A time is limited. */
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
  /** The policy wants a check after the last step. Default: false. */
  readonly checkAfterLastStep?: boolean;
  /** Forced compactions after reported overflows; absent for one. */
  readonly overflowRecoveries?: number;
}

/** Of an activity that needs no more than the turn. */
export interface OfTurn {
  readonly turn: TurnReference;
}

/** Whether a stop waits for the turn. It waits until the turn ends, so whoever asks again is told the same. */
export interface StopLook {
  readonly stopRequested: boolean;
}

export interface ContinueTurnResult extends StopLook {
  readonly settings: TurnSettings;
}

/** The limit of time that comes first, and milliseconds until then; 0: it is reached. */
export interface TimeLeft {
  readonly reason: string;
  readonly milliseconds: number;
}

export type ChangeBranchResult = { readonly kind: 'changed' } | { readonly kind: 'refused'; readonly reason: string };

export interface CompactContextInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** The provider refused the request before as too large: a compaction is made even if the view seems to fit. */
  readonly forced: 'overflow' | null;
  /** The turn has answered: what would not fit is made smaller for the next one. Default: false. */
  readonly turnIsOver?: true;
}

/** Which entries and which compaction a model call projects: nothing else can enter its request. */
export interface ViewReference {
  readonly headEntryId: string;
  /** Tokens by the calibrated estimate. */
  readonly tokens: number;
}

export interface PlannedCompaction {
  readonly compactionId: string;
  /** Part numbers by wave; no wave when the plan only reduces. */
  readonly waves: readonly (readonly PlannedPart[])[];
  readonly tokensBefore: number;
  /** The user asked for it. */
  readonly requested?: true;
}

export interface PlannedPart {
  readonly number: number;
  /** For the summary line in the Temporal UI. */
  readonly label: string;
}

/** `tookMessages`: steering messages that waited are entries of the turn. */
export type CompactContextResult =
  /** `declined`: a compaction was asked for, and there was nothing to make smaller. */
  | { readonly kind: 'fits'; readonly view: ViewReference; readonly declined?: true; readonly tookMessages?: true }
  | { readonly kind: 'planned'; readonly planned: PlannedCompaction; readonly tookMessages?: true }
  /** A summary is due: `askHooks` plans it, with what hooks of the application say to it. */
  | { readonly kind: 'hooks_due'; readonly tookMessages?: true }
  | { readonly kind: 'exhausted'; readonly tokens: number }
  /** A limit is reached: no further step. */
  | { readonly kind: 'limit'; readonly reason: string };

export interface SummarizeInput {
  readonly turn: TurnReference;
  readonly compactionId: string;
  readonly part: number;
}

export type SummarizeResult =
  | { readonly kind: 'summarized'; readonly tokens: number }
  /** The model failed too often; the commit plans the next weaker form. */
  | { readonly kind: 'failed'; readonly failures: number }
  /** A limit is reached: this part is not asked for. */
  | { readonly kind: 'limit'; readonly reason: string };

export interface CommitCompactionInput {
  readonly turn: TurnReference;
  readonly compactionId: string;
}

export type CommitCompactionResult =
  /** `limit`: one is reached by what the summaries cost, and the model is not asked. */
  | { readonly kind: 'committed'; readonly view: ViewReference; readonly tokensBefore: number; readonly limit?: string }
  | { readonly kind: 'planned'; readonly planned: PlannedCompaction }
  /** Something was appended under the plan: it is worth nothing any more, and the next check makes another. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'exhausted'; readonly tokens: number };

export interface CallModelInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly headEntryId: string;
}

/** The tools that an answer asks for, each once. By columns: as objects, seventy of them would not fit the guard. */
export interface CalledTools {
  /** For the Temporal UI, shortened so that all fit. */
  readonly names: readonly string[];
  readonly timeoutSeconds: readonly number[];
  /** Places of those whose calls run alone. */
  readonly exclusive: readonly number[];
}

/**
 * Why an answer without a tool call is not the last one: it was cut at the maximum output, the vendor paused it, it announced a
 * call that did not come, or it is not of the form that was asked for.
 */
export type Unfinished = 'answer_cut' | 'answer_paused' | 'call_missing' | 'output_invalid';

export type CallModelResult =
  | {
      readonly kind: 'answered';
      readonly tools: CalledTools;
      /** For each call that may run, in order, its place in `tools`: 200 calls as objects would not fit the guard. */
      readonly calls: readonly number[];
      /** Keeps calls behind these from running: the turn ends by it. */
      readonly limit?: string;
      /** Some of the calls may have to wait for a person: `requestDecisions` says which. */
      readonly asks?: true;
      /** Tokens as the provider reported them; `null` when it reported none. */
      readonly inputTokens: number | null;
      /** The model goes on in another step. Absent: with its tool calls, or the answer is complete. */
      readonly unfinished?: Unfinished;
      /** Dollars, up to and with this call; `null` when a price is unknown. */
      readonly turnCost: number | null;
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'overflow' }
  /** `reason`: a code for the user, where there is more to say than that the model failed. */
  | { readonly kind: 'failed'; readonly reason?: 'thinking_filled_output' }
  /** The model was given up; the next call asks another one, whose window is checked first. */
  | { readonly kind: 'fallback'; readonly model: string; readonly window: number }
  /** Something was appended behind the head before the model was asked: the context is checked again. */
  | { readonly kind: 'moved' };

export interface RequestDecisionsInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** So many calls of the answer may run, the first ones: nobody is asked about one that a limit keeps from running. */
  readonly runnable: number;
}

/** What a turn waits for from people. */
export interface RequestDecisionsResult {
  /** Calls that wait; 0: all may go on. */
  readonly waiting: number;
  /** Of them, questions of the model to the user. */
  readonly questions: number;
  /** Until the first of them expires. */
  readonly expiresInMilliseconds: number;
}

export interface RunToolInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly callIndex: number;
}

export interface RunToolResult {
  readonly state: 'succeeded' | 'failed' | 'outcome_unknown';
  /** Tells this call with this result from others of the turn (src/turn/progress.ts). */
  readonly fingerprint: string;
  /** One of the recall tools was called. */
  readonly recall?: true;
}

export interface EndTurnInput {
  readonly turn: TurnReference;
  readonly outcome: TurnOutcome;
  /** Code of what led to the outcome, for the user's next step: `step_limit`, `second_overflow` … */
  readonly reason: string | null;
  /** Temporal's own cancel came, of which Postgres knows nothing: what waits is stopped with the turn. */
  readonly cancelled?: true;
}

export type EndTurnResult =
  /** `waiting`: rows wait for the next turn. */
  | ({ readonly kind: 'ended'; readonly waiting: boolean } & TurnResult)
  /** Nothing was written: the turn goes on with steering messages that came meanwhile. */
  | { readonly kind: 'messages_waiting' };

/** How a turn ended, as it was stored; also the result of its workflow. */
export interface TurnResult {
  /** `stopped` for a turn that completed while a stop came. */
  readonly outcome: TurnOutcome;
  /** Code of what led to it. */
  readonly reason: string | null;
  /** What happened and what can be done next, in fixed words: Temporal shows it. */
  readonly explanation: string;
  /** Model calls that were answered. */
  readonly steps: number;
  /** Dollars; `null`: the price of a call is unknown. */
  readonly cost: number | null;
}

/** What a turn's workflow tells the worker that it runs on. */
export type WorkSinks = {
  readonly work: {
    /** @param activityId of an activity that is cancelled, unique in the run and counted up */
    cancelled(activityId: number): void;
  };
};

/** Key of what stands in for a payload that a codec could not encode or decode. */
export const CODEC_FAILURE = 'holdfastCodecFailure';

/** Why it could not; `null`: the value is another one. */
export function codecFailureIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !(CODEC_FAILURE in value)) return null;
  return String(value[CODEC_FAILURE]);
}
