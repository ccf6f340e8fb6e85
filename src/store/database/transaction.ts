import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Transaction } from './database.ts';
import { toStoreError } from './errors.ts';
import { insertEvent, notifyWatchersSoon } from '../log/event-writer.ts';
import type { EventTurn } from '../log/event-writer.ts';
import { observeEvent } from '../log/observe-events.ts';
import type { EventDataByKind, EventKind } from '../log/timeline.ts';

/** One transaction; refusals of the database become `StoreError`s. */
export async function transaction<Result>(
  sql: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  try {
    // Wrapped, because the driver would await each element of an array.
    const { value } = await sql.begin(async (open) => ({ value: await work(open) }));
    return value;
  } catch (error) {
    throw toStoreError(error);
  }
}

/** Reads that all see the same state of the database, whatever is written meanwhile. */
export async function readAtOnce<Result>(
  sql: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const { value } = await sql.begin('isolation level repeatable read read only', async (open) => ({
    value: await work(open),
  }));
  return value;
}

export interface LockedConversation {
  readonly id: string;
  readonly agent: string;
  readonly epoch: number;
  readonly branch: number;
  readonly activeTurnId: string | null;
  readonly headEntryId: string | null;
  readonly compactions: number;
  readonly compactionId: string | null;
}

/** What the steps of a transaction share that writes in the name of a turn. */
export interface Writer {
  readonly sql: Transaction;
  readonly turn: TurnReference;
  /** Appends to the timeline; watchers are told after the commit. `turnId`: of another turn than the writer's. */
  readonly event: <Kind extends EventKind>(kind: Kind, data: EventDataByKind[Kind], turnId?: string) => Promise<void>;
  /** Says that a statement appended events up to this number. */
  readonly appended: (newestEvent: number) => void;
  /** Measures what no event says, once it is committed. */
  readonly afterCommit: (observe: () => void) => void;
}

export interface TurnWriter extends Writer {
  readonly conversation: LockedConversation;
}

export interface WriterSource {
  readonly sql: Transaction;
  readonly writer: (turn: TurnReference) => Writer;
  readonly event: <Kind extends EventKind>(turn: EventTurn, kind: Kind, data: EventDataByKind[Kind]) => Promise<void>;
}

/**
 * One transaction that appends events. Watchers are notified after the commit and by a statement of
 * their own, since a commit that notifies holds a lock on the whole database.
 */
export async function writeEvents<Result>(
  sql: Database,
  conversationId: string,
  work: (source: WriterSource) => Promise<Result>,
): Promise<Result> {
  let newestEvent = 0;
  const appended = (number: number): void => {
    newestEvent = Math.max(newestEvent, number);
  };
  const committed: (() => void)[] = [];
  const result = await transaction(sql, (open) => {
    const event: WriterSource['event'] = async (turn, kind, data) => {
      appended(await insertEvent(open, turn, kind, data));
      committed.push(() => observeEvent(kind, data));
    };
    return work({
      sql: open,
      event,
      writer: (turn) => ({
        sql: open,
        turn,
        appended,
        afterCommit: (observe) => committed.push(observe),
        event: (kind, data, turnId = turn.turnId) => event({ ...turn, turnId }, kind, data),
      }),
    });
  });
  for (const observe of committed) observe();
  if (newestEvent > 0) notifyWatchersSoon(sql, conversationId, newestEvent);
  return result;
}

export interface LockedSource extends WriterSource {
  /** Absent: it was deleted. */
  readonly conversation: Pick<LockedConversation, 'epoch' | 'activeTurnId'> | undefined;
}

/**
 * One transaction in the name of whoever owns the conversation: locks it first, as a write of its turn does.
 */
export async function writeLocked<Result>(
  sql: Database,
  conversationId: string,
  work: (source: LockedSource) => Promise<Result>,
): Promise<Result> {
  return writeEvents(sql, conversationId, async (source) => {
    const [conversation] = await source.sql<Pick<LockedConversation, 'epoch' | 'activeTurnId'>[]>`
      select epoch, active_turn_id from conversations where id = ${conversationId} for no key update`;
    return work({ ...source, conversation });
  });
}

/**
 * One transaction of a turn: locks the conversation first, so that the writes of a conversation
 * follow each other, and refuses a writer that was replaced.
 */
export async function writeAsTurn<Result>(
  sql: Database,
  turn: TurnReference,
  work: (writer: TurnWriter) => Promise<Result>,
): Promise<Result> {
  return writeEvents(sql, turn.conversationId, async ({ sql: open, writer }) => {
    const [conversation] = await open<LockedConversation[]>`
      select id, agent, epoch, branch, active_turn_id, head_entry_id, compactions, compaction_id
      from require_epoch(${turn.conversationId}, ${turn.epoch})`;
    if (conversation === undefined) throw new TypeError('require_epoch returns a row or raises');
    return work({ ...writer(turn), conversation });
  });
}
