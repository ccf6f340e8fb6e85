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

/** What a hook gets before a compaction that writes a summary. */
export interface CompactionPreparation {
  /** Of the compaction. */
  readonly conversationId: string;
  /** Of the compaction. */
  readonly turnId: string;
  /** Why it compacts. */
  readonly reason: CompactionReason;
  /** Name of the preset in force. */
  readonly preset: string;
  /** First entry that stays as it is; `null` when everything is summarized. */
  readonly firstKeptEntryId: string | null;
  /** Originals of the entries that the summary will replace, oldest first. */
  readonly entriesToSummarize: readonly Entry[];
  /** Text of the summary in force, or `null`. */
  readonly previousSummary: string | null;
  /** What the hook of the previous compaction returned as `details`. */
  readonly previousDetails: JsonValue;
  /** Tokens of the view, by the calibrated estimate. */
  readonly tokensBefore: number;
  /** Files that the summary will list; empty when the policy lists none. */
  readonly files: FileLists;
}

/** What a hook may return. Without a return value the compaction runs as planned. */
export interface CompactionDecision {
  /** No compaction: the model is called with the view as it is. */
  readonly cancel?: true;
  /** Replaces the model's summary. Used only if it makes the view smaller. */
  readonly summary?: string;
  /**
   * With `summary`: the first entry that stays as it is. `summary` replaces everything before it. A tool call stays with its results.
   * Default: the entry of the preparation, also if this one would save nothing.
   */
  readonly firstKeptEntryId?: string;
  /** Stored with the compaction, for the hooks of the next one. Default: what the previous one stored. */
  readonly details?: JsonValue;
  /** Lines before and after the instruction to the summarizing model. */
  readonly contextLines?: { readonly prepend?: readonly string[]; readonly append?: readonly string[] };
}

export interface HookLimits {
  /** Aborted when the turn is stopped or lost, and after ten minutes for all hooks together. A later answer is ignored. */
  readonly signal: AbortSignal;
}

/**
 * Runs before a compaction that writes a summary, in an activity, so it may call a model. It runs up to three times: after an error, after
 * the death of a worker, or after ten minutes for all hooks together. So it must change nothing outside, and should pass `signal` on. After
 * three failures the compaction runs without it (event `compaction_hook_skipped`).
 */
export type BeforeCompaction = (
  preparation: CompactionPreparation,
  limits: HookLimits,
) => CompactionDecision | undefined | Promise<CompactionDecision | undefined>;
