import type { CompactionForm, CompactionPlan, PlanPart } from '../context/plan.ts';
import type { Measurements } from '../context/measurements.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';
import type { NewContent } from './entries.ts';

export type CompactionStatus = 'planned' | 'committed' | 'failed' | 'abandoned';
export type CompactionReason = 'threshold' | 'overflow' | 'manual';

export interface StorePlanRequest {
  readonly turn: TurnReference;
  readonly callNumber: number;
  /** Id for the compaction if it is new. */
  readonly compactionId: string;
  readonly plan: CompactionPlan;
  readonly reason: CompactionReason;
  readonly preset: string;
  /** The head that the plan was made for; another head refuses the plan as `head_moved`. */
  readonly headEntryId: string;
}

export interface CompactionRow {
  readonly compactionId: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly callNumber: number;
  readonly status: CompactionStatus;
  readonly reason: CompactionReason;
  readonly preset: string;
  readonly form: CompactionForm;
  /** 1 for the first form of a pass, 2 for the weaker one that follows … */
  readonly formNumber: number;
  readonly plan: CompactionPlan;
  readonly focus: string | null;
  readonly headEntryId: string;
  /** The compaction whose summary this one updates. */
  readonly previousCompactionId: string | null;
  /** Marker entry, once committed. */
  readonly markerEntryId: string | null;
  /** Newest entry after the commit: the marker or the continuation note. */
  readonly committedHeadEntryId: string | null;
  /** The weaker form that replaced a failed one. */
  readonly nextCompactionId: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

/**
 * Stores a plan. While a conversation has an unfinished plan, that one is returned (`joined`): one
 * compaction at a time, and a repeated activity finds what it stored. A plan with reason `manual`
 * serves the compact command and takes over its focus.
 * @throws StoreError `stale_epoch`, `head_moved`, `group_split`
 */
export async function storePlan(
  _sql: Database,
  _request: StorePlanRequest,
): Promise<{ readonly compaction: CompactionRow; readonly joined: boolean }> {
  throw new Error('unwritten');
}

/** @throws StoreError `compaction_not_found` */
export async function getCompaction(_sql: Database, _compactionId: string): Promise<CompactionRow> {
  throw new Error('unwritten');
}

export interface CommitCompactionRequest {
  readonly turn: TurnReference;
  readonly compactionId: string;
  /** Text and facts of the finished summary; `null` when the form has none. */
  readonly summary: NewSummary | null;
  /** View right after the commit, without `fixed`: what later sums are added to. The marker and the continuation note not included. */
  readonly viewAfter: Measurements;
  /** Tokens by the calibrated estimate, measured as `plan.tokensBefore` was. Refused unless smaller. */
  readonly tokensAfter: number;
  /** Note that tells the model to go on; appended after the marker. */
  readonly continuation: NewContent | null;
}

export interface NewSummary {
  readonly text: string;
  /** The block as it stands in the view. */
  readonly measurements: Measurements;
  /** Title and text of each section. */
  readonly sections: readonly { readonly title: string; readonly text: string }[];
  /** Cumulative lists of files. */
  readonly files: { readonly read: readonly string[]; readonly modified: readonly string[] };
  /** `provider/model` that wrote it; `null` for an extractive one. */
  readonly model: string | null;
  readonly promptVersion: string;
}

export type CommittedCompaction =
  /** `headEntryId`: the newest entry now, which the next model call projects. */
  | {
      readonly kind: 'committed';
      readonly headEntryId: string;
      readonly markerEntryId: string;
      readonly tokensAfter: number;
    }
  /** Another call replaced it by a weaker form before. */
  | { readonly kind: 'replanned'; readonly next: CompactionRow }
  | { readonly kind: 'abandoned' };

/**
 * Commits in one transaction: checks epoch and head, refuses what is not smaller, splits a group or
 * has an empty summary; appends the marker entry and the continuation note; from then on the
 * projection follows the plan. Repeating it returns what stands.
 * @throws StoreError `stale_epoch`, `head_moved`, `compaction_refused`, `group_split`
 */
export async function commitCompaction(
  _sql: Database,
  _request: CommitCompactionRequest,
): Promise<CommittedCompaction> {
  throw new Error('unwritten');
}

/**
 * Marks a plan as failed and stores the next weaker form in the same transaction. Repeating it, or
 * racing with another call, returns the form that was stored first.
 * @throws StoreError `stale_epoch`, `head_moved`, `wrong_state` (already committed)
 */
export async function replanCompaction(
  _sql: Database,
  _request: {
    readonly turn: TurnReference;
    readonly compactionId: string;
    /** Code of why the form failed: `not_smaller`, `summary_failed`, `over_target` … */
    readonly failure: string;
    readonly nextCompactionId: string;
    readonly plan: CompactionPlan;
  },
): Promise<CompactionRow> {
  throw new Error('unwritten');
}

/**
 * Ends a plan without effect: `failed` when no weaker form is left, `abandoned` when it is no longer
 * wanted. Nothing happens when it is finished already.
 * @throws StoreError `stale_epoch`
 */
export async function endCompaction(
  _sql: Database,
  _request: {
    readonly turn: TurnReference;
    readonly compactionId: string;
    readonly status: 'failed' | 'abandoned';
    readonly failure: string;
  },
): Promise<void> {
  throw new Error('unwritten');
}

export interface SummaryRow {
  readonly compactionId: string;
  /** Counts the conversation's committed compactions, from 1. */
  readonly number: number;
  readonly form: CompactionForm;
  readonly reason: CompactionReason;
  readonly preset: string;
  readonly text: string | null;
  readonly sections: NewSummary['sections'];
  readonly files: NewSummary['files'];
  readonly model: string | null;
  /** Entries that the summary covers, by sequence; `null` for a pass without summary. */
  readonly coveredThroughSequence: number | null;
  readonly firstKeptSequence: number | null;
  readonly operations: number;
  readonly parts: readonly PlanPart[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Milliseconds from plan to commit. */
  readonly durationMilliseconds: number;
  readonly createdAt: string;
}

/** Committed compactions of a conversation, newest first; with `query` those whose text has it (case ignored). */
export async function listSummaries(
  _sql: Database,
  _request: {
    readonly conversationId: string;
    readonly query?: string;
    readonly limit?: number;
    readonly beforeNumber?: number;
  },
): Promise<SummaryRow[]> {
  throw new Error('unwritten');
}
