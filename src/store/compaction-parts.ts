import type { Entry } from '../context/entry.ts';
import type { PlanPart } from '../context/plan.ts';
import type { ReportedUsage } from '../models/model-client.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { CompactionRow } from './compactions.ts';
import type { Database } from './database.ts';

export interface PartReference {
  readonly turn: TurnReference;
  readonly compactionId: string;
  /** Number of the part. */
  readonly part: number;
}

export interface PartRow {
  readonly part: PlanPart;
  readonly state: 'planned' | 'written' | 'failed';
  /** Newest attempt that registered; 0 before the first. */
  readonly attempt: number;
  /** Failures of the model so far. */
  readonly failures: number;
  /** The text, once written. */
  readonly text: string | null;
  readonly promptVersion: string | null;
}

/** What one part reads, besides its entries. */
export interface PartSource {
  readonly compaction: CompactionRow;
  readonly row: PartRow;
  /** The summary that is updated; `null` for the first one. */
  readonly previousSummary: {
    readonly compactionId: string;
    readonly text: string;
    readonly files: { readonly read: readonly string[]; readonly modified: readonly string[] };
  } | null;
  /** Merge only: the texts of all parts of earlier waves, in order. */
  readonly parts: readonly PartRow[];
}

/** @throws StoreError `compaction_not_found`, `stale_epoch` */
export async function readPart(_sql: Database, _part: PartReference): Promise<PartSource> {
  throw new Error('unwritten');
}

/** All parts of a compaction in order, for the commit. */
export async function listParts(_sql: Database, _compactionId: string): Promise<PartRow[]> {
  throw new Error('unwritten');
}

/** The originals of a range of the branch, oldest first, in pages of at most `pageBytes` (default 4 MB) of content. */
export async function* readOriginals(
  _sql: Database,
  _range: {
    readonly conversationId: string;
    /** Whose branch is read: the head that the compaction was planned for. */
    readonly headEntryId: string;
    readonly fromSequence: number;
    readonly toSequence: number;
    readonly pageBytes?: number;
  },
): AsyncGenerator<readonly Entry[], void, undefined> {
  throw new Error('unwritten');
}

/**
 * Registers a try: the number that `storePartText` and `recordPartFailure` must name. A part that is
 * written says so, with its text: no model needs to be called.
 * @throws StoreError `stale_epoch`, `wrong_state` (the compaction is finished)
 */
export async function registerPartAttempt(
  _sql: Database,
  _part: PartReference,
): Promise<
  | { readonly state: 'registered'; readonly attempt: number; readonly failures: number }
  | { readonly state: 'written'; readonly row: PartRow }
> {
  throw new Error('unwritten');
}

/** What a summarizing call cost, failed or not. Added to the turn's sums. */
export interface PartCall {
  readonly model: string;
  readonly usage: ReportedUsage | null;
  /** Dollars; `null` when the price is unknown. */
  readonly cost: number | null;
  readonly durationMilliseconds: number;
}

/** @throws StoreError `stale_epoch`, `superseded_attempt` */
export async function storePartText(
  _sql: Database,
  _request: PartReference & {
    readonly attempt: number;
    readonly text: string;
    readonly promptVersion: string;
    readonly call: PartCall | null;
  },
): Promise<void> {
  throw new Error('unwritten');
}

/**
 * Counts a failure of the model (not of the worker or the network) and returns how many there were.
 * @throws StoreError `stale_epoch`, `superseded_attempt`
 */
export async function recordPartFailure(
  _sql: Database,
  _request: PartReference & {
    readonly attempt: number;
    readonly failure: string;
    readonly call: PartCall | null;
    /** No further try follows. */ readonly final: boolean;
  },
): Promise<{ readonly failures: number }> {
  throw new Error('unwritten');
}
