import type { Measurements } from '../log/measurements.ts';
import type { Outlines } from '../log/outline-table.ts';
import type { Reducers } from './reducers/built-in.ts';
import type { CompactionPolicy, SummaryFraming } from '../policy/policy.ts';

export interface ModelLimits {
  readonly window: number;
  /** Base address of the model's server, without credentials: the same model may count tokens differently elsewhere. */
  readonly server?: string;
  /** Largest input when the vendor caps it below the window. */
  readonly maximumInput?: number;
  readonly maximumOutput: number;
  /** Images and files of a request, where a server refused more. Absent: nothing is known. */
  readonly maximumMedia?: MediaLimits;
}

export interface MediaLimits {
  /** Their number; 0: none are taken. */
  readonly parts?: number;
  /** Their bytes together, in base64. */
  readonly bytes?: number;
}

/**
 * How much the estimate must be multiplied with for a model, learned from reported usage.
 * `factor` 1 and `samples` 0 when nothing was learned.
 */
export interface Calibration {
  readonly factor: number;
  /** Tokens of one frame: of a message or a tool call besides its text. Absent: as assumed for every model, times `factor`. */
  readonly frameTokens?: number;
  readonly samples: number;
  /** What factor and frame were computed from; only learning needs it. */
  readonly lessons?: Lessons;
}

/** Weighted sums over the reports of a model, each a product of text (uncalibrated tokens), frames and reported tokens. */
export interface Lessons {
  readonly textText: number;
  readonly textFrames: number;
  readonly framesFrames: number;
  readonly textReported: number;
  readonly framesReported: number;
}

/** The numbers in force for one model and policy, all in tokens. */
export interface Budget {
  readonly window: number;
  readonly outputReserve: number;
  readonly inputBudget: number;
  readonly trigger: number;
  readonly target: number;
  readonly tail: number;
  readonly userMessages: number;
  readonly summaryOutput: number;
  readonly turnPrefixOutput: number;
}

/** A change of how one kept entry is shown. Originals stay in the log. */
export interface Operation {
  readonly entryId: string;
  readonly kind: 'clip' | 'clear' | 'strip';
  /** Clip only: characters kept at the start. */
  readonly headCharacters?: number;
  /** Clip only: characters kept at the end. */
  readonly tailCharacters?: number;
  /** Clip only: of a content that is a JSON array, this many first items stay instead. */
  readonly arrayItems?: number;
  readonly measurements: Measurements;
}

/** From the preset's own form to ever weaker ones. */
export type CompactionForm = 'reduction' | 'summary' | 'shorter_summary' | 'extractive_summary' | 'clip_only';
export type SummaryForm = Extract<CompactionForm, 'summary' | 'shorter_summary' | 'extractive_summary'>;

/** Which piece of an entry a part reads: `number` from 1. */
export interface PartPiece {
  readonly number: number;
  readonly of: number;
}

export interface PlanPart {
  readonly number: number;
  /** Parts of a wave run in parallel; waves run one after another; a merge is the last wave. From 1. */
  readonly wave: number;
  /** `branch`: all of a branch that is left, for the one that goes on. */
  readonly kind: 'history' | 'turn_prefix' | 'merge' | 'flush' | 'branch';
  /** Entries that the part reads; absent for a merge, which reads the texts of the parts before it. */
  readonly fromSequence?: number;
  readonly toSequence?: number;
  /** A single entry that is larger than one request is read in pieces, each by a part of its own. Absent: entries are read whole. */
  readonly piece?: PartPiece;
  readonly inputTokens: number;
  /** Longest answer, in tokens. */
  readonly maximumOutput: number;
}

/** A summary that is in force: what stands in the view for the entries before the cut. */
export interface SummaryInForce {
  readonly compactionId: string;
  readonly coveredThroughSequence: number;
  /** First entry kept verbatim: the cut point. Where covered entries stay in the view, shortened, the first of these. */
  readonly firstKeptSequence: number;
  readonly keptSequences: readonly number[];
  readonly measurements: Measurements;
  readonly shown: SummaryShown;
}

/** How a summary is shown, whatever the policy says later. */
export interface SummaryShown {
  readonly framing: SummaryFraming;
  /** The newest entry that stands before it; 0: none. */
  readonly afterSequence: number;
}

/**
 * `threshold`: the policy's count was over the trigger. `overflow`: the provider refused the request. `manual`: the user
 * asked. `maintenance`: after each turn, however full the window is.
 */
export type CompactionReason = 'threshold' | 'overflow' | 'manual' | 'maintenance';

/** A request as the policy counts it. */
export interface CountedRequest {
  /** Tokens; `null`: nothing is known yet. */
  readonly tokens: number | null;
  /** Tokens of the calibrated estimate that make one of the policy's. */
  readonly calibratedPerToken: number;
  /** Over the trigger, or by the calibrated estimate over the input budget. */
  readonly isDue: boolean;
  readonly figures: CheckFigures;
}

/** Why a pass is made, or none, in whole tokens: both counts, the one that is held against the trigger, and what it is held against. */
export interface CheckFigures {
  /** Of the whole request, as the policy counts. */
  readonly estimate: number;
  /** The provider's count of the newest call with its answer; `null`: none since the newest compaction. */
  readonly reported: number | null;
  /** What counts; `null`: nothing is known yet. */
  readonly effective: number | null;
  readonly budget: number;
  readonly threshold: number;
}

export interface PlanInput {
  readonly policy: CompactionPolicy;
  readonly budget: Budget;
  readonly calibration: Calibration;
  readonly summarizer: ModelLimits;
  /** Measurements of system prompt, rules and tool schemas: the floor that no pass can shrink. */
  readonly fixed: Measurements;
  /** Outlines of the branch, oldest first, from the first entry that the view or a summary can need. */
  readonly entries: Outlines;
  readonly summary: SummaryInForce | null;
  readonly operations: readonly Operation[];
  /** The running turn: its entries decide whether a continuation note is due. */
  readonly turnId: string;
  /**
   * Why a pass is wanted. `threshold` plans only when it is due; `overflow` and `manual` always
   * plan, and `overflow` aims lower because the provider has just proven the estimate too low.
   */
  readonly reason: CompactionReason;
  /** The policy's own count of the request. Default: the calibrated estimate is what counts. */
  readonly counted?: Omit<CountedRequest, 'figures'>;
  /** The turn has answered: nobody is to be told to go on, and its request is no longer open. Default: false. */
  readonly turnIsOver?: boolean;
  /** The agent has the recall tools: what stands for dropped entries says how to get them back. Default: false. */
  readonly recall?: boolean;
  /** Overflows that the turn has recovered from before: each further pass aims lower. Default: 0. */
  readonly recoveries?: number;
  /** Entries before the newest messages that name files of these; kept if the policy says so. Default: none. */
  readonly activeEntryIds?: ReadonlySet<string>;
  /** The newest flush to memory, and the time. Default: none yet. */
  readonly flushed?: { readonly millisecondsAgo: number; readonly tokens: number };
  /** Sequence of the entry whose group is to be the first that stays. Default: the policy decides. */
  readonly keepFrom?: number;
  /** The form to plan; weaker ones follow when a form failed. Default: the strongest. */
  readonly form?: CompactionForm;
  /** Default: those that Holdfast brings. */
  readonly reducers?: Reducers;
  /** Told of a reducer that failed or is not known, which is then passed over. Default: its error is thrown. */
  readonly onReducerFailed?: (name: string, error: unknown) => void;
}

export interface CompactionPlan {
  readonly form: CompactionForm;
  /** First entry kept verbatim; `null` when the cut stays where it is. */
  readonly firstKeptSequence: number | null;
  /** The cut is at a marker entry that is appended together with the plan. */
  readonly opensWithMarker: boolean;
  /** `firstKeptSequence` is that marker: nothing of the log before it stays. */
  readonly keptFromMarker: boolean;
  /** Messages of user, assistant and tools that leave the view for the summary. */
  readonly droppedMessages: number;
  /** Last entry covered by the summary; `null` without a summary. */
  readonly coveredThroughSequence: number | null;
  readonly keptSequences: readonly number[];
  readonly operations: readonly Operation[];
  readonly parts: readonly PlanPart[];
  /**
   * Longest summary text that the plan counts with, in tokens. 0 when the pass writes no summary.
   */
  readonly summaryLimit: number;
  /** Absent when the pass writes no summary. */
  readonly shown?: SummaryShown;
  /** What the summary covers stays in the view, the large entries shortened; nothing is dropped. Default: false. */
  readonly inPlace?: boolean;
  /** Longest quotation of user messages, tokens; not part of `summaryLimit`. Default: 0. */
  readonly quotedLimit?: number;
  readonly messagesChanged?: number;
  readonly entriesInView?: number;
  /** The view still fitted the window: the pass came in time. Otherwise it is a reaction to a jump past it, or to an overflow. */
  readonly proactive?: boolean;
  readonly continuation: boolean;
  /** The conversation goes on in the middle of a task, not with a new message of the user. */
  readonly insideTurn: boolean;
  readonly turnIsOver: boolean;
  readonly tokensBefore: number;
  /** Tokens expected after it; for summaries an upper bound. */
  readonly tokensAfter: number;
  /** The finished pass counts only if the view is at most this large: target and tolerance (R7), or what could be planned at all. Tokens. */
  readonly acceptedTokens: number;
  /** The finished pass counts only if it frees at least this (R5). Tokens. */
  readonly requiredGain: number;
}

/** Tokens by kind of content. */
export interface WindowFill {
  readonly fixed: number;
  readonly summary: number;
  readonly userMessages: number;
  readonly assistantMessages: number;
  readonly toolResults: number;
  readonly notes: number;
}

/** What fills the window, in tokens by the calibrated estimate. */
export interface WindowBreakdown extends WindowFill {
  readonly total: number;
  readonly inputBudget: number;
  readonly window: number;
}

export type PlanResult =
  | { readonly kind: 'fits'; readonly tokens: number }
  | { readonly kind: 'planned'; readonly plan: CompactionPlan }
  /** Nothing that the policy may do makes the view small enough. */
  | { readonly kind: 'exhausted'; readonly breakdown: WindowBreakdown };
