import type { CompactionForm, CompactionReason, WindowBreakdown } from '../../context/plan/plan.ts';
import type { TurnOutcome } from '../../turn/turn-reference.ts';

interface CallAttempt {
  /** From 1. */
  readonly callNumber: number;
  /** From 1. */
  readonly attempt: number;
}

interface ToolCallPlace {
  /** Number of the model call that asked for it, from 1. */
  readonly callNumber: number;
  /** Position in the answer, from 0. */
  readonly callIndex: number;
}

interface DecidedCall extends ToolCallPlace {
  /** Number of the turn in its conversation, from 1. */
  readonly turn: number;
  readonly name: string;
}

interface CompactionPlan {
  readonly compactionId: string;
  readonly reason: CompactionReason;
  readonly form: CompactionForm;
  /** 1 for the planned form, more for weaker ones. */
  readonly formNumber: number;
  /** The overflowed model call is made again afterwards. */
  readonly willRetry: boolean;
  /** Tokens of the view. */
  readonly tokensBefore: number;
  /** Entries that are clipped, cleared or stripped. */
  readonly operations: number;
  /** Messages that are taken out or shortened; `null` when the preset does not count them. */
  readonly targets: number | null;
  /** The view still fitted the window. `null` when the preset does not tell. */
  readonly proactive: boolean | null;
}

/** What each event of the timeline says: ids, names, counts and flags, never message text. */
export interface EventDataByKind {
  readonly message_taken: { readonly messageId: string; readonly entryId: string; readonly sequence: number };
  readonly turn_begun: {
    readonly agent: string;
    readonly model: string;
    readonly preset: string;
    /** A command for an idle conversation: a turn without a step. */
    readonly commandOnly: boolean;
  };
  readonly turn_continued: { readonly runId: string };
  /** The turn waits for its provider, or for a worker that has what comes next; then it may not have begun. */
  readonly turn_waiting:
    | {
        readonly reason: 'rate_limit' | 'outage' | 'call_limit' | 'token_limit' | 'call_or_token_limit';
        readonly delayMilliseconds: number;
        readonly provider: string;
      }
    | {
        readonly reason: 'no_worker';
        readonly needs: 'agent' | 'preset' | 'provider' | 'tool';
        readonly name: string;
      };
  readonly turn_wait_over: Readonly<Record<string, never>>;
  /** An activity failed for the third time with an error that is no outage. `code`: of the error. */
  readonly activity_failing: { readonly activity: string; readonly code: string; readonly failures: number };
  readonly turn_ended: {
    readonly outcome: TurnOutcome;
    /** Code of what led to the outcome. */
    readonly reason: string | null;
    /** Tokens of the window at the end: estimated, reported by the provider, and estimated of what came after that report. */
    readonly contextTokens?: number;
    readonly usageTokens?: number | null;
    readonly trailingTokens?: number;
  };
  readonly model_call_started: CallAttempt & {
    readonly model: string;
    readonly estimatedTokens: number;
    readonly inputBudget?: number;
  };
  /** The worker of the attempt before never reported: another one makes the call again. */
  readonly model_call_reclaimed: CallAttempt;
  readonly model_call_answered: CallAttempt & {
    readonly entryId: string;
    readonly inputTokens: number | null;
    /** Of the input, what was read from the provider's cache. */
    readonly cachedTokens: number | null;
    readonly outputTokens: number | null;
    /** Dollars; `null`: a price is unknown. */
    readonly cost: number | null;
  };
  readonly model_call_failed: CallAttempt & {
    /** `superseded`: a later attempt answered; `lost`: its worker died. */
    readonly kind:
      | 'overflow'
      | 'retryable'
      | 'rate_limited'
      | 'unreachable'
      | 'permanent'
      | 'aborted'
      | 'refused'
      | 'superseded'
      | 'lost';
    readonly status: number | null;
  };
  readonly model_fallback: {
    readonly callNumber: number;
    readonly from: string;
    readonly to: string;
    readonly reason: string;
  };
  /** The window of a model is not known; so many tokens are assumed. */
  readonly model_window_assumed: { readonly model: string; readonly window: number };
  /** A worker was lost; another one runs the call again. */
  readonly tool_call_reclaimed: ToolCallPlace & {
    readonly name: string;
    readonly attempt: number;
    readonly workerIdentity: string;
  };
  readonly tool_call_finished: ToolCallPlace & {
    readonly name: string;
    readonly outcome: 'succeeded' | 'failed' | 'outcome_unknown' | 'not_run';
    readonly entryId: string;
    readonly attempt?: number;
  };
  /** A replaced attempt reported; its result is kept beside the log. */
  readonly tool_result_late: ToolCallPlace & {
    readonly attempt: number;
    readonly outcome: string;
    readonly workerIdentity: string;
  };
  readonly decision_requested: DecidedCall & { readonly kind: 'approval' | 'question' };
  readonly decision_made: DecidedCall & {
    readonly decision: 'approved' | 'denied' | 'answered' | 'expired';
    /** `standing`: a decision for all turns of the agent covered it. */
    readonly scope?: 'call' | 'turn' | 'agent' | 'standing';
    /** Name of a person or of an API key, where one was told. */
    readonly decidedBy?: string;
  };
  readonly compaction_started: CompactionPlan & {
    readonly preset: string;
    /** Parts that a model summarizes. */
    readonly parts: number;
    /** Messages in the view; `null` when the preset does not count them. */
    readonly messages: number | null;
    readonly force: boolean;
    /** The counts that the trigger was compared with: the estimate, the provider's report, and the one that counted. */
    readonly estimatedTokens?: number | null;
    readonly reportedTokens?: number | null;
    readonly countedTokens?: number | null;
    readonly thresholdTokens?: number | null;
  };
  readonly compaction_part_written: {
    readonly compactionId: string;
    readonly part: number;
    readonly attempt: number;
    readonly characters: number;
  };
  readonly compaction_part_failed: {
    readonly compactionId: string;
    readonly part: number;
    readonly attempt: number;
    readonly failure: string;
    readonly failures: number;
  };
  /** The form did not succeed; `nextForm` is tried. */
  readonly compaction_form_failed: {
    readonly compactionId: string;
    readonly failure: string;
    readonly form?: CompactionForm;
    readonly nextForm?: CompactionForm;
  };
  readonly compaction_committed: CompactionPlan & {
    /** Number of the compaction in its conversation, from 1. */
    readonly number: number;
    readonly requestedForm: CompactionForm;
    /** A weaker form than the requested one. */
    readonly fallback: boolean;
    readonly messagesRemoved: number;
    /** Last entry that the summary covers, and the first one that is kept verbatim. */
    readonly coveredThroughSequence: number | null;
    readonly firstKeptSequence: number | null;
    readonly tokensAfter: number;
    readonly tokensSaved: number;
    readonly guardedFrom: number | null;
    readonly durationMilliseconds: number;
  };
  /** Nothing that may be compacted makes the view small enough. */
  readonly compaction_exhausted: Partial<WindowBreakdown> & {
    readonly callNumber?: number;
    readonly compactionId?: string;
    readonly reason?: CompactionReason;
    readonly failure?: string;
    readonly tokens?: number | null;
    readonly recoveries?: number;
  };
  readonly compaction_abandoned: { readonly compactionId: string; readonly failure: string };
  /** A hook of the application cancelled the compaction. */
  readonly compaction_cancelled: { readonly callNumber?: number; readonly reason: CompactionReason };
  /** Hooks failed three times and were left out. `code`: name of the error; `interrupted`: their attempts did not end. */
  readonly compaction_hook_skipped: { readonly callNumber: number; readonly code: string };
  /** A requested compaction had nothing to do. */
  readonly compaction_declined: {
    readonly reason: 'nothing_to_compact' | 'irreducible' | 'cancelled_by_hook' | 'stopped';
    readonly tokens: number | null;
  };
  readonly branch_changed: {
    readonly kind: string;
    readonly fromBranch: number;
    readonly branch: number;
    readonly ancestorSequence: number;
    readonly headEntryId: string | null;
    readonly summaryEntryId: string | null;
  };
  readonly branch_refused: { readonly messageId: string; readonly reason: string };
  /** The text that goes into long-term memory was written. */
  readonly memory_flushed: {
    readonly compactionId: string;
    readonly part: number | null;
    readonly characters: number;
  };
  readonly secrets_redacted: {
    readonly compactionId?: string;
    readonly part?: number;
    readonly summaryEntryId?: string;
    /** Left out of what the model read for a summary, and of its text. */
    readonly count: number;
  };
  readonly note_added: { readonly slot: string; readonly entryId: string };
  readonly rules_changed: { readonly entryId: string };
}

export type EventKind = keyof EventDataByKind;

export type EventOfKind<Kind extends EventKind = EventKind> = {
  [Each in Kind]: { readonly kind: Each; readonly data: EventDataByKind[Each] };
}[Kind];
