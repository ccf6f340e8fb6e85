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
  /** The model call that overflowed is made again afterwards. */
  readonly willRetry: boolean;
  /** Tokens of the view. */
  readonly tokensBefore: number;
  /** Entries that are clipped, cleared or stripped. */
  readonly operations: number;
  /** Messages that are removed or shortened. `null`: the preset does not count them. */
  readonly messagesChanged: number | null;
  /** The view still fitted the window. `null`: the preset does not say. */
  readonly proactive: boolean | null;
}

/** The data of each kind of event: ids, names, counts and flags, never message text. */
export interface EventDataByKind {
  /** A message entered the conversation, as an entry. */
  readonly message_taken: { readonly messageId: string; readonly entryId: string; readonly sequence: number };
  /** A turn began. */
  readonly turn_begun: {
    readonly agent: string;
    readonly model: string;
    readonly preset: string;
    /** The turn only carries out a command, without a model call. */
    readonly commandOnly: boolean;
  };
  /** The turn continues in a new workflow run, because the history was long. */
  readonly turn_continued: { readonly runId: string };
  /** The turn waits for its provider, or for a worker that has what it needs next. */
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
  /** The wait has ended. */
  readonly turn_wait_over: Readonly<Record<string, never>>;
  /** An activity has failed three times, not because of an outage. It is tried again. `code` is that of the error. */
  readonly activity_failing: { readonly activity: string; readonly code: string; readonly failures: number };
  /** The turn ended. */
  readonly turn_ended: {
    readonly outcome: TurnOutcome;
    /** Code of what led to the outcome. */
    readonly reason: string | null;
    /** Estimated tokens of the window at the end. */
    readonly contextTokens?: number;
    /** Tokens that the provider reported last. */
    readonly usageTokens?: number | null;
    /** Estimated tokens of what came after that report. */
    readonly trailingTokens?: number;
  };
  /** An attempt of a model call begins. */
  readonly model_call_started: CallAttempt & {
    readonly model: string;
    readonly estimatedTokens: number;
    readonly inputBudget?: number;
  };
  /** The worker of the previous attempt is gone: another one makes the call again. */
  readonly model_call_reclaimed: CallAttempt;
  /** The answer is stored as an entry. */
  readonly model_call_answered: CallAttempt & {
    readonly entryId: string;
    readonly inputTokens: number | null;
    /** Part of the input that came from the provider's cache. */
    readonly cachedTokens: number | null;
    readonly outputTokens: number | null;
    /** Dollars, or `null` if a price is unknown. */
    readonly cost: number | null;
  };
  /** An attempt failed. */
  readonly model_call_failed: CallAttempt & {
    /** `superseded`: a later attempt answered. `lost`: its worker died. */
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
  /** Another model takes over for the rest of the turn. */
  readonly model_fallback: {
    readonly callNumber: number;
    readonly from: string;
    readonly to: string;
    readonly reason: string;
  };
  /** The window of a model is unknown, so this number of tokens is assumed. */
  readonly model_window_assumed: { readonly model: string; readonly window: number };
  /** The worker of a tool call is gone: another one runs the call again. */
  readonly tool_call_reclaimed: ToolCallPlace & {
    readonly name: string;
    readonly attempt: number;
    readonly workerIdentity: string;
  };
  /** A tool call has its result. */
  readonly tool_call_finished: ToolCallPlace & {
    readonly name: string;
    readonly outcome: 'succeeded' | 'failed' | 'outcome_unknown' | 'not_run';
    readonly entryId: string;
    readonly attempt?: number;
  };
  /** A replaced attempt reported late. Its result is kept beside the log; the model does not see it. */
  readonly tool_result_late: ToolCallPlace & {
    readonly attempt: number;
    readonly outcome: string;
    readonly workerIdentity: string;
  };
  /** A call waits for a person. */
  readonly decision_requested: DecidedCall & { readonly kind: 'approval' | 'question' };
  /** A waiting call was decided, or nobody decided in time. */
  readonly decision_made: DecidedCall & {
    readonly decision: 'approved' | 'denied' | 'answered' | 'expired';
    /** `standing`: an earlier decision for all turns of the agent covers it. */
    readonly scope?: 'call' | 'turn' | 'agent' | 'standing';
    /** Name of a person or of an API key, if known. */
    readonly decidedBy?: string;
  };
  /** A compaction is planned. */
  readonly compaction_started: CompactionPlan & {
    readonly preset: string;
    /** Parts that a model summarizes. */
    readonly parts: number;
    /** Messages in the view. `null`: the preset does not count them. */
    readonly messages: number | null;
    readonly force: boolean;
    /** Our estimate of the view. */
    readonly estimatedTokens?: number | null;
    /** What the provider reported. */
    readonly reportedTokens?: number | null;
    /** The one of both that was compared with the threshold. */
    readonly countedTokens?: number | null;
    /** What starts a compaction. */
    readonly thresholdTokens?: number | null;
  };
  /** A part of the summary is written. */
  readonly compaction_part_written: {
    readonly compactionId: string;
    readonly part: number;
    readonly attempt: number;
    readonly characters: number;
  };
  /** A part of the summary failed; it is tried again. */
  readonly compaction_part_failed: {
    readonly compactionId: string;
    readonly part: number;
    readonly attempt: number;
    readonly failure: string;
    readonly failures: number;
  };
  /** A form of the compaction failed; `nextForm` is tried. */
  readonly compaction_form_failed: {
    readonly compactionId: string;
    readonly failure: string;
    readonly form?: CompactionForm;
    readonly nextForm?: CompactionForm;
  };
  /** The compaction is in force. */
  readonly compaction_committed: CompactionPlan & {
    /** Number of the compaction in its conversation, from 1. */
    readonly number: number;
    readonly requestedForm: CompactionForm;
    /** A weaker form than the requested one. */
    readonly fallback: boolean;
    readonly messagesRemoved: number;
    /** Last entry that the summary covers. */
    readonly coveredThroughSequence: number | null;
    /** First entry that is kept verbatim. */
    readonly firstKeptSequence: number | null;
    readonly tokensAfter: number;
    readonly tokensSaved: number;
    /** Tokens of the view before the summary was shortened to fit. `null`: it fitted. */
    readonly guardedFrom: number | null;
    readonly durationMilliseconds: number;
  };
  /** No form makes the view small enough. */
  readonly compaction_exhausted: Partial<WindowBreakdown> & {
    readonly callNumber?: number;
    readonly compactionId?: string;
    readonly reason?: CompactionReason;
    readonly failure?: string;
    readonly tokens?: number | null;
    readonly recoveries?: number;
  };
  /** The turn ended during the compaction. */
  readonly compaction_abandoned: { readonly compactionId: string; readonly failure: string };
  /** A hook cancelled the compaction. */
  readonly compaction_cancelled: { readonly callNumber?: number; readonly reason: CompactionReason };
  /** The hooks failed three times and were left out. `code` is the name of the error, or `interrupted`. */
  readonly compaction_hook_skipped: { readonly callNumber: number; readonly code: string };
  /** A requested compaction had nothing to do. */
  readonly compaction_declined: {
    readonly reason: 'nothing_to_compact' | 'irreducible' | 'cancelled_by_hook' | 'stopped';
    readonly tokens: number | null;
  };
  /** A fork or a switch was carried out. */
  readonly branch_changed: {
    readonly kind: string;
    readonly fromBranch: number;
    readonly branch: number;
    readonly ancestorSequence: number;
    readonly headEntryId: string | null;
    readonly summaryEntryId: string | null;
  };
  /** A fork or a switch was refused. */
  readonly branch_refused: { readonly messageId: string; readonly reason: string };
  /** The text for the agent's memory is written. */
  readonly memory_flushed: {
    readonly compactionId: string;
    readonly part: number | null;
    readonly characters: number;
  };
  /** Secrets were replaced before a model wrote a summary, or in the summary. */
  readonly secrets_redacted: {
    readonly compactionId: string;
    readonly part: number;
    readonly count: number;
  };
  /** A note entered the conversation, such as the plan. */
  readonly note_added: { readonly slot: string; readonly entryId: string };
  /** The rules changed: those of the agent, or pins. */
  readonly rules_changed: { readonly entryId: string };
}

export type EventKind = keyof EventDataByKind;

export type EventOfKind<Kind extends EventKind = EventKind> = {
  [Each in Kind]: { readonly kind: Each; readonly data: EventDataByKind[Each] };
}[Kind];
