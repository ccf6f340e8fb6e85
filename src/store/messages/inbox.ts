import type { InboxLook } from '../../turn/activity-values.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { mayStandBefore } from '../attempts/call-boundary.ts';
import type { CallBoundary } from '../attempts/call-boundary.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { pinChange } from '../../context/log/pins.ts';
import type { ContentPart } from '../../context/log/content.ts';
import { newId } from '../database/ids.ts';
import { changePins } from '../log/pins.ts';
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
    const waiting = await writer.sql<TakenMessage[]>`
      select id from messages
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

/** A message that becomes an entry. */
export interface TakenMessage {
  readonly id: string;
  /** When it was said, ISO 8601, where that was elsewhere. Default: now. */
  readonly createdAt?: string;
  /** Of the entry. Default: a new one. */
  readonly entryId?: string;
}

/**
 * Makes each message an entry of the turn, consumed with it, in order of arrival: one statement whatever their number. Then the pins
 * that they change are changed.
 */
export async function appendMessages(writer: Writer, messages: readonly TakenMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const { sql, turn } = writer;
  const rows = await sql<{ number: number; content: readonly ContentPart[] }[]>`
    with taken as (
      update messages m set turn_id = ${turn.turnId}, consumed_at = holdfast_now()
      from unnest(${messages.map(({ id }) => id)}::text[],
        ${messages.map(({ entryId }) => entryId ?? newId())}::uuid[],
        ${messages.map(({ createdAt }) => createdAt ?? null)}::text[]) as t (id, entry_id, created_at)
      where m.conversation_id = ${turn.conversationId} and m.id = t.id
      returning m.id, m.position, m.content, m.measurements, t.entry_id, t.created_at
    ), said as (
      insert into entries (id, conversation_id, kind, turn_id, epoch, message_id, content, measurements, created_at)
      select entry_id, ${turn.conversationId}, 'user', ${turn.turnId}, ${turn.epoch}, id, content, measurements,
        coalesce(created_at::timestamptz, holdfast_now())
      from taken order by position
      returning id, message_id, sequence, content
    ), told as (
      insert into events (conversation_id, turn_id, epoch, kind, data)
      select ${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, 'message_taken',
        jsonb_build_object('messageId', message_id, 'entryId', id, 'sequence', sequence)
      from said order by sequence
      returning number
    )
    select (select max(number) from told) as number, content from said order by sequence`;
  writer.appended(rows[0]?.number ?? 0);
  for (const { content } of rows) await changePins(writer, pinChange(content));
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
