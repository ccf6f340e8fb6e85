/**
 * What crosses the border between the workflow and its activities: ids, counts, names and flags,
 * never text. Each argument and result is one plain JSON object, far below the 8 KB that the
 * payload guard allows, whatever the size of the conversation.
 */
import type { TurnRefusal } from './agent-snapshot.ts';
import type { LoopLimits } from './loop-guard.ts';
import type { ConversationRest, SpendingLimits } from './spending.ts';
import type { TurnOutcome, TurnReference } from './turn-reference.ts';

export interface BeginTurnInput {
  readonly conversationId: string;
  /** Temporal's own cancel came before the turn, of which Postgres knows nothing. */
  readonly cancelled?: true;
}

export type BeginTurnResult =
  | {
      readonly kind: 'begun';
      readonly turn: TurnReference;
      /** A command for an idle conversation: a turn with no step. */
      readonly commandOnly: boolean;
      readonly compactRequested: boolean;
      /** A fork or a switch waits: the turn does that and nothing else. */
      readonly branchRequested?: true;
      readonly stopRequested: boolean;
      /**
       * Temporal's own cancel, of which the input tells, does not stop the turn: what it took was sent later, or queued.
       */
      readonly outlivesCancel?: true;
      readonly stepLimit: number;
      readonly loopLimits: LoopLimits;
      /** Absent when only the steps are limited. */
      readonly limits?: SpendingLimits;
      /** What limits of the conversation left at its beginning; absent when it has none. */
      readonly conversationRest?: ConversationRest;
      readonly facts: TurnFacts;
      /** Present when the worker cannot run the agent. */
      readonly refusal?: TurnRefusal;
    }
  | { readonly kind: 'nothing_waiting' };

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

export interface InboxLook {
  /** Messages, steering and queued, that no turn has taken. */
  readonly waiting: number;
  /** Of them, the ones that enter at the next step boundary. */
  readonly steering: number;
  readonly stopRequested: boolean;
  readonly compactRequested: boolean;
  /** Tool calls that wait for a person; absent when none does. */
  readonly decisionsWaiting?: number;
}

export interface LookAtInboxInput {
  readonly conversationId: string;
  /** The turn that is under way; `null` after it ended: then only what waits is counted. */
  readonly turn: TurnReference | null;
}

export interface ChangeBranchInput {
  readonly turn: TurnReference;
  /** No model is asked for the summary once one of the conversation's is reached. Absent where there are none. */
  readonly limits?: SpendingLimits;
}

export type ChangeBranchResult = { readonly kind: 'changed' } | { readonly kind: 'refused'; readonly reason: string };

export interface TakeMessagesInput {
  readonly turn: TurnReference;
  /** Of the model call that will see them first. */
  readonly callNumber: number;
}

/** Why a compaction is wanted even if the view seems to fit. */
export type ForcedReason = 'overflow' | 'manual';

export interface CompactContextInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly forced: ForcedReason | null;
  /** Checked before the step; absent: nothing but the steps is limited. */
  readonly limits?: SpendingLimits;
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
}

export interface PlannedPart {
  readonly number: number;
  /** For the summary line in the Temporal UI. */
  readonly label: string;
}

export type CompactContextResult =
  /** `declined`: a compaction was asked for, and there was nothing to make smaller. */
  | { readonly kind: 'fits'; readonly view: ViewReference; readonly declined?: true }
  | { readonly kind: 'planned'; readonly planned: PlannedCompaction }
  | { readonly kind: 'exhausted'; readonly tokens: number }
  /** A limit is reached: no further step. */
  | { readonly kind: 'limit'; readonly reason: string };

export interface SummarizeInput {
  readonly turn: TurnReference;
  readonly compactionId: string;
  readonly part: number;
  /** No model is asked once one of them is reached. Absent where only steps are limited. */
  readonly limits?: SpendingLimits;
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
  /** Checked once more: summaries cost too. */
  readonly limits?: SpendingLimits;
}

export type CommitCompactionResult =
  /** `limit`: one is reached by what the summaries cost, and the model is not asked. */
  | { readonly kind: 'committed'; readonly view: ViewReference; readonly tokensBefore: number; readonly limit?: string }
  | { readonly kind: 'planned'; readonly planned: PlannedCompaction }
  | { readonly kind: 'exhausted'; readonly tokens: number };

export interface CallModelInput {
  readonly turn: TurnReference;
  readonly callNumber: number;
  readonly headEntryId: string;
}

/** A tool that an answer asks for, once per name. */
export interface CalledTool {
  readonly name: string;
  readonly exclusive: boolean;
  readonly timeoutMilliseconds: number;
}

/**
 * Why an answer without a tool call is not the last one: it was cut at the maximum output, the vendor paused it, it announced a
 * call that did not come, or it is not of the form that was asked for.
 */
export type Unfinished = 'answer_cut' | 'answer_paused' | 'call_missing' | 'output_invalid';

export type CallModelResult =
  | {
      readonly kind: 'answered';
      readonly tools: readonly CalledTool[];
      /** For each call, in order, its place in `tools`: 200 calls as objects would not fit the guard. */
      readonly calls: readonly number[];
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
  /** So many calls of the answer may run, the first ones: nobody is asked about one that a limit keeps from running. Absent: all. */
  readonly runnable?: number;
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
  /** Tells this call with this result from others of the turn (src/turn/loop-guard.ts). */
  readonly fingerprint: string;
  /** One of the recall tools was called. */
  readonly recall?: true;
}

export interface EndTurnInput {
  readonly turn: TurnReference;
  readonly outcome: TurnOutcome;
  /** Code of what led to the outcome, for the user's next step: `step_limit`, `second_overflow` … */
  readonly reason: string | null;
  /** Temporal's own cancel came, of which Postgres knows nothing: what was sent before it is stopped with the turn. */
  readonly cancelled?: true;
}

/** How a turn ended, as it was stored; also the result of its workflow. */
export interface EndTurnResult {
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
