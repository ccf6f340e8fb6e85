import { isPast } from '../database/past.ts';
import type { Database } from '../database/database.ts';
import type { MessageMode } from './messages.ts';

/**
 * Seconds for which a ring is enough. A turn that keeps a row for longer is rung again, in case its workflow was ended from outside
 * meanwhile: a few hundred events an hour, of the 51,200 that a history may hold.
 */
const RING_REACHES_SECONDS = 10;

/** A message whose row is committed. */
export interface RungMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly mode: MessageMode;
}

/**
 * Whether the open turn needs no ring for the message: it was rung a moment ago for another one, which still waits, and takes this
 * one with it; one that is queued is seen in any case by the look behind the turn's end. Each ring costs a history up to ten
 * events, also while a tool runs for minutes and no new run can begin.
 */
export async function isRungFor(sql: Database, { id, conversationId, mode }: RungMessage): Promise<boolean> {
  // While somebody writes to the conversation, the row that still waits may be about to be taken, and this one not seen.
  const open = await sql`
    select from conversations where id = ${conversationId} and active_turn_id is not null for share skip locked`;
  if (open.length === 0) return false;
  // Asked after that, so whoever takes the row found here began after the message was committed.
  const [row] = await sql<{ rung: boolean }[]>`
    select exists (
      select from messages
      where conversation_id = ${conversationId} and consumed_at is null and kind = 'message' and id <> ${id}
        and (mode = 'steer' or ${mode} = 'queue')
        and not ${isPast(sql, sql`rung_at`, RING_REACHES_SECONDS)}) as rung`;
  return row?.rung === true;
}

/** Notes that a ring arrived for a message that waits beside an open turn. A row that something else holds is left out. */
export async function noteArrival(sql: Database, { id, conversationId }: RungMessage): Promise<void> {
  await sql`
    with waiting as (
      select m.id from messages m join conversations c on c.id = m.conversation_id
      where m.conversation_id = ${conversationId} and m.id = ${id} and m.consumed_at is null and c.active_turn_id is not null
      for no key update of m skip locked)
    update messages m set rung_at = holdfast_now(), rings = m.rings + 1 from waiting
    where m.conversation_id = ${conversationId} and m.id = waiting.id`;
}
