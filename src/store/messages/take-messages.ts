import type { ContentPart } from '../../context/log/content.ts';
import { pinChange } from '../../context/log/pins.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { mayStandBefore } from '../attempts/call-boundary.ts';
import type { CallBoundary } from '../attempts/call-boundary.ts';
import type { Database } from '../database/database.ts';
import { newId } from '../database/ids.ts';
import { changePins } from '../log/pins.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { Writer } from '../database/transaction.ts';

export interface TakenMessages {
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

export interface TakenMessage {
  readonly id: string;
  /** When it was said, ISO 8601, where that was elsewhere. Default: now. */
  readonly createdAt?: string;
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
        least(created_at::timestamptz, holdfast_now())
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
  // An exported file has notes of its pins, and a session of another program pins nothing.
  if (messages.some(({ createdAt }) => createdAt !== undefined)) return;
  for (const { content } of rows) await changePins(writer, pinChange(content));
}
