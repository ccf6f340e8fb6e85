import type { InboxLook } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { mayStandBefore } from '../attempts/call-boundary.ts';
import type { CallBoundary } from '../attempts/call-boundary.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { pinChange } from '../../context/log/pins.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { changePins } from '../log/pins.ts';
import { parseMeasurements } from '../log/measurement-columns.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { Writer } from '../database/transaction.ts';

/**
 * What waits for a turn. A command waits until it is served: a stop until the turn ends, a
 * compaction until one was committed or declined. So a look that is repeated after a crash says the same.
 * @throws StoreError `stale_epoch`
 */
export async function lookAtInbox(sql: Queries, turn: TurnReference): Promise<InboxLook> {
  const [conversation] = await sql<{ epoch: number }[]>`
    select epoch from conversations where id = ${turn.conversationId}`;
  if (conversation?.epoch !== turn.epoch) throw staleEpoch(turn, conversation?.epoch);
  return countInbox(sql, turn.conversationId);
}

/**
 * The same for a conversation without an open turn; commands count as waiting rows too. A decision whose time is over does not
 * wait: its turn, which counts one more, asks again and ends it, also when the clock of Postgres is ahead of Temporal's timer.
 */
export async function countInbox(sql: Queries, conversationId: string): Promise<InboxLook> {
  const [row] = await sql<{ waiting: number; steering: number; stop: boolean; compact: boolean; decisions: number }[]>`
    select count(*)::int as waiting,
      (select count(*) from decisions d
        where d.conversation_id = ${conversationId} and d.state = 'waiting' and d.expires_at > holdfast_now())::int as decisions,
      (count(*) filter (where kind = 'message' and mode = 'steer'))::int as steering,
      coalesce(bool_or(kind = 'stop'), false) as stop,
      coalesce(bool_or(kind = 'compact'), false) as compact
    from messages where conversation_id = ${conversationId} and consumed_at is null`;
  return {
    waiting: row?.waiting ?? 0,
    steering: row?.steering ?? 0,
    stopRequested: row?.stop ?? false,
    compactRequested: row?.compact ?? false,
    ...((row?.decisions ?? 0) > 0 && { decisionsWaiting: row?.decisions ?? 0 }),
  };
}

/** The refusal of reads; writes are refused by the database. */
export function staleEpoch(turn: TurnReference, epoch: number | undefined): StoreError {
  return new StoreError(
    'stale_epoch',
    `conversation ${turn.conversationId} is at epoch ${epoch ?? 'unknown'}; turn ${turn.turnId} of epoch ${turn.epoch} was replaced`,
  );
}

export interface TakenMessages {
  /** Entries appended by this call. */
  readonly messages: number;
}

/**
 * Appends all waiting steering messages as user entries, in order of arrival, and marks them
 * consumed, in one transaction. Repeating it takes only what came since. What was sent behind a stop is for the turn that
 * follows: this one ends.
 * @param boundary the call before which they stand. Default: they are appended at whatever is the head
 * @throws StoreError `stale_epoch`, `call_registered` (messages wait, and that call is made without them)
 */
export async function takeMessages(
  sql: Database,
  turn: TurnReference,
  boundary?: CallBoundary,
): Promise<TakenMessages> {
  return writeAsTurn(sql, turn, async (writer) => {
    const waiting = await writer.sql<WaitingMessage[]>`
      select id, position, content, measurements from messages
      where conversation_id = ${turn.conversationId} and consumed_at is null and kind = 'message' and mode = 'steer'
        and not exists (
          select from messages s where s.conversation_id = ${turn.conversationId} and s.consumed_at is null
            and s.kind = 'stop' and s.position < messages.position)
      order by position`;
    const isInTime =
      waiting.length === 0 || boundary === undefined || (await mayStandBefore(writer.sql, turn, boundary));
    if (!isInTime) return { messages: 0 };
    await appendMessages(writer, waiting);
    return { messages: waiting.length };
  });
}

export interface WaitingMessage {
  readonly id: string;
  readonly position: string;
  readonly content: readonly ContentPart[];
  readonly measurements: string;
  /** Of the entry, ISO 8601. Default: now. */
  readonly createdAt?: string;
  /** Of the entry. Default: a new one. */
  readonly entryId?: string;
}

/** Makes each message an entry of the turn, with the pins that it changes, consumed in the same transaction. */
export async function appendMessages(writer: Writer, messages: readonly WaitingMessage[]): Promise<void> {
  const { sql, turn, event } = writer;
  for (const message of messages) {
    const entry = await insertEntry(sql, {
      kind: 'user',
      turn,
      messageId: message.id,
      content: message.content,
      measurements: parseMeasurements(message.measurements),
      ...(message.createdAt !== undefined && { createdAt: message.createdAt }),
      ...(message.entryId !== undefined && { id: message.entryId }),
    });
    await event('message_taken', { messageId: message.id, entryId: entry.id, sequence: entry.sequence });
    await changePins(writer, pinChange(message.content));
  }
  const ids = messages.map(({ id }) => id);
  await sql`
    update messages set turn_id = ${turn.turnId}, consumed_at = holdfast_now()
    where conversation_id = ${turn.conversationId} and id = any(${ids})`;
}

export interface ServedCommands {
  readonly conversationId: string;
  readonly kind: 'stop' | 'compact' | 'resume';
  /** `null`: nothing was there to serve them. */
  readonly turnId: string | null;
  /** Those that were read: what was sent since waits on. Default: all that wait. */
  readonly ids?: readonly string[];
}

/** Commands that have been served no longer wait; returns how many there were. */
export async function consumeCommands(
  sql: Transaction,
  { conversationId, kind, turnId, ids }: ServedCommands,
): Promise<number> {
  const { count } = await sql`
    update messages set turn_id = ${turnId}, consumed_at = holdfast_now()
    where conversation_id = ${conversationId} and kind = ${kind} and consumed_at is null
      ${ids === undefined ? sql`` : sql`and id = any(${[...ids]})`}`;
  return count;
}

/** Why a request to compact is declined; `stopped` is told with a stop. `irreducible`: what fills the window may not be compacted. */
export type DeclineReason = 'nothing_to_compact' | 'irreducible' | 'cancelled_by_hook';

/**
 * The requested compaction has nothing to do: the requests count as served, and the timeline says why. Repeating it
 * writes nothing.
 * @param requests those that were read when it was decided: one that was sent since is for the next check. Default: all that wait
 * @param tokens of the view
 * @throws StoreError `stale_epoch`
 */
export async function declineCompaction(
  sql: Database,
  turn: TurnReference,
  {
    requests,
    reason,
    tokens,
  }: { readonly requests?: readonly string[]; readonly reason: DeclineReason; readonly tokens: number },
): Promise<void> {
  const { conversationId, turnId } = turn;
  await writeAsTurn(sql, turn, async (writer) => {
    const served = {
      conversationId,
      kind: 'compact',
      turnId,
      ...(requests !== undefined && { ids: requests }),
    } as const;
    const declined = await consumeCommands(writer.sql, served);
    if (declined > 0) await writer.event('compaction_declined', { reason, tokens });
  });
}
