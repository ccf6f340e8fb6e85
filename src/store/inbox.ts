import type { InboxLook } from '../turn/activity-values.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database } from './database.ts';

/**
 * What waits for a turn. Commands that `takeCommands` took count as requested until they are
 * served: a stop until the turn ends, a compaction until its plan is stored or `declineCompaction`.
 * So a look that is repeated after a crash says the same.
 * @throws StoreError `stale_epoch`
 */
export async function lookAtInbox(_sql: Database, _turn: TurnReference): Promise<InboxLook> {
  throw new Error('unwritten');
}

export interface TakenMessages {
  /** Entries appended by this call. */
  readonly messages: number;
  readonly headEntryId: string;
}

/**
 * Appends all waiting steering messages as user entries, in order of arrival, and marks them
 * consumed, in one transaction. Repeating it takes only what came since.
 * @throws StoreError `stale_epoch`
 */
export async function takeMessages(_sql: Database, _turn: TurnReference): Promise<TakenMessages> {
  throw new Error('unwritten');
}

/**
 * Marks waiting stop and compact commands consumed by the turn and notes them on its row; the focus
 * of the newest compact command becomes the turn's. Returns all that is requested and not yet served.
 * @throws StoreError `stale_epoch`
 */
export async function takeCommands(
  _sql: Database,
  _turn: TurnReference,
): Promise<{ readonly stop: boolean; readonly compact: boolean }> {
  throw new Error('unwritten');
}

/** The requested compaction has nothing to do: the request counts as served. */
export async function declineCompaction(_sql: Database, _turn: TurnReference): Promise<void> {
  throw new Error('unwritten');
}
