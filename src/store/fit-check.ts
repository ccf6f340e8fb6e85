import type { EntryOutline } from '../context/entry.ts';
import type { Measurements } from '../context/measurements.ts';
import type { Calibration, ModelLimits, Operation, SummaryInForce } from '../context/plan.ts';
import type { CompactionPolicy } from '../context/policy.ts';
import type { ReportedUsage } from '../models/model-client.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';

/** All that decides whether the next request fits. */
export interface FitCheck {
  readonly headEntryId: string;
  readonly headSequence: number;
  /** Measurements of the view at the head, without `fixed`. */
  readonly view: Measurements;
  /** Instructions, rules and tool schemas, as measured when the turn began. */
  readonly fixed: Measurements;
  readonly model: string;
  readonly modelLimits: ModelLimits;
  readonly policy: CompactionPolicy;
  readonly calibration: Calibration;
  /** The newest usage that the provider reported since the newest compaction; older usage never counts (R3). */
  readonly reported: {
    readonly usage: ReportedUsage;
    /** Measurements of what came after the answer that reported it. */
    readonly since: Measurements;
  } | null;
  /** The newest committed compaction, or `null`. */
  readonly compactionId: string | null;
  /** A compaction that is planned and not finished: join it instead of planning another (R4). */
  readonly plannedCompactionId: string | null;
  /** A compact command was taken and not served. */
  readonly compactRequested: boolean;
}

/**
 * One query whose cost does not depend on the conversation's length: sums at the head, plus the
 * offset that the newest compaction left, are the view.
 * @throws StoreError `stale_epoch`, `turn_not_found`
 */
export async function readFitCheck(_sql: Database, _turn: TurnReference): Promise<FitCheck> {
  throw new Error('unwritten');
}

export interface PlanSource {
  readonly headEntryId: string;
  readonly headSequence: number;
  /** Outlines of the branch from the first entry that the view needs: kept ones, kept older user messages, newest notes. Oldest first. */
  readonly entries: readonly EntryOutline[];
  readonly summary: SummaryInForce | null;
  /** In force on these entries, the newest per entry. */
  readonly operations: readonly Operation[];
  /** Limits of the conversation's focus: what the user asked a manual compaction to dwell on. */
  readonly focus: string | null;
}

/**
 * What planning reads: sizes, never text.
 * @throws StoreError `stale_epoch`
 */
export async function readPlanSource(_sql: Database, _turn: TurnReference): Promise<PlanSource> {
  throw new Error('unwritten');
}
