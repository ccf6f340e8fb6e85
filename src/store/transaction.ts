import type { TurnReference } from '../turn/turn-reference.ts';
import type { Database, Transaction } from './database.ts';
import { toStoreError } from './errors.ts';
import { insertEvent, notifyWatchers } from './event-writer.ts';
import type { EventData, EventKind } from './event-writer.ts';

/** One transaction; refusals of the database become `StoreError`s. */
export async function transaction<Result>(
  sql: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const results: Result[] = [];
  try {
    await sql.begin(async (open) => {
      results.push(await work(open));
    });
  } catch (error) {
    throw toStoreError(error);
  }
  return results[0] as Result;
}

/** A read or write of one statement, with the same translation of errors. */
export async function refusing<Result>(query: PromiseLike<Result>): Promise<Result> {
  try {
    return await query;
  } catch (error) {
    throw toStoreError(error);
  }
}

/** The conversation's row, locked until the transaction ends. */
export interface LockedConversation {
  readonly id: string;
  readonly agent: string;
  readonly epoch: number;
  readonly branch: number;
  readonly active_turn_id: string | null;
  readonly head_entry_id: string | null;
  readonly compactions: number;
  readonly compaction_id: string | null;
}

/** What the steps of a turn's transaction share. */
export interface TurnWriter {
  readonly sql: Transaction;
  readonly turn: TurnReference;
  readonly conversation: LockedConversation;
  /** Appends to the timeline; watchers are told after the commit. `turnId`: another turn than the writer's. */
  readonly event: (kind: EventKind, data: EventData, turnId?: string) => Promise<void>;
}

/**
 * One transaction of a turn: locks the conversation first, so that the writes of a conversation
 * follow each other, and refuses a writer that was replaced. Watchers are notified after the commit
 * and by a statement of their own, since a commit that notifies holds a lock on the whole database.
 * @throws StoreError `stale_epoch`
 */
export async function writeAsTurn<Result>(
  sql: Database,
  turn: TurnReference,
  work: (writer: TurnWriter) => Promise<Result>,
): Promise<Result> {
  let newestEvent = 0;
  const result = await transaction(sql, async (open) => {
    const [conversation] = await open<LockedConversation[]>`
      select id, agent, epoch, branch, active_turn_id, head_entry_id, compactions, compaction_id
      from require_epoch(${turn.conversationId}, ${turn.epoch})`;
    if (conversation === undefined) throw new TypeError('require_epoch returns a row or raises');
    return work({
      sql: open,
      turn,
      conversation,
      event: async (kind, data, turnId = turn.turnId) => {
        newestEvent = await insertEvent(open, { turn: { ...turn, turnId }, kind, data });
      },
    });
  });
  if (newestEvent > 0) await notifyWatchers(sql, turn.conversationId, newestEvent);
  return result;
}
