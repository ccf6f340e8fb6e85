import type { Entry } from '../log/entry.ts';
import type { FileLists } from '../summary/summary-message.ts';
import type { CompactionReason } from '../plan/plan.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** What a hook is told before a compaction that writes a summary. */
export interface CompactionPreparation {
  readonly conversationId: string;
  readonly turnId: string;
  readonly reason: CompactionReason;
  readonly preset: string;
  /** First entry that stays as it is; `null` when everything is summarized. */
  readonly firstKeptEntryId: string | null;
  /** Originals of the entries that the summary will stand for, oldest first. */
  readonly entriesToSummarize: readonly Entry[];
  readonly previousSummary: string | null;
  readonly previousDetails: JsonValue;
  /** Tokens of the view, by the calibrated estimate. */
  readonly tokensBefore: number;
  /** Files that the summary will list; empty when the policy lists none. */
  readonly files: FileLists;
}

/** What a hook may answer; nothing lets the compaction go on as planned. */
export interface CompactionDecision {
  /** No compaction this time: nothing changes, and the model is called with the view as it is. */
  readonly cancel?: true;
  /** Instead of a model's summary. It counts only if the view gets smaller by it. */
  readonly summary?: string;
  /**
   * With `summary`: the first entry that stays as it is, any of the branch; all before it is what `summary` stands for. A tool call is not
   * parted from its results. Default: that of the preparation, which also counts when this one would save nothing.
   */
  readonly firstKeptEntryId?: string;
  /** Stored with the compaction, and given to the hooks of the next one. Default: what the one before stored. */
  readonly details?: JsonValue;
  /** Lines that stand before and after the instruction to the summarizing model. */
  readonly contextLines?: { readonly prepend?: readonly string[]; readonly append?: readonly string[] };
}

export interface HookLimits {
  /** Aborted when the turn is stopped or lost, and when the ten minutes of all hooks are over: what the hook answers then, nobody reads. */
  readonly signal: AbortSignal;
}

/**
 * Runs before a compaction, in an activity of its own, so it may ask a model. May run up to three times for the same compaction: when
 * it throws, when a worker dies, and when all hooks together take over ten minutes. So it must not act on anything, and should hand
 * `signal` to what it calls. After three failures the compaction goes on without it, and the timeline says so
 * (`compaction_hook_skipped`).
 */
export type BeforeCompaction = (
  preparation: CompactionPreparation,
  limits: HookLimits,
) => CompactionDecision | undefined | Promise<CompactionDecision | undefined>;
