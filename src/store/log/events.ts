import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database } from '../database/database.ts';
import { isId } from '../database/ids.ts';
import { writeAsTurn } from '../database/transaction.ts';
import type { EventDataByKind, EventKind, EventOfKind } from './timeline.ts';

export { EVENTS_CHANNEL } from './event-writer.ts';

export type EventRow = EventOfKind & {
  /** Order within the conversation, from 1, without gaps. */
  readonly number: number;
  readonly turnId: string | null;
  readonly createdAt: string;
};

/** Events after a number (default 0), oldest first; at most `limit` (default 500). */
export async function listEvents(
  sql: Database,
  request: { readonly conversationId: string; readonly after?: number; readonly limit?: number },
): Promise<EventRow[]> {
  if (!isId(request.conversationId)) return [];
  return sql<EventRow[]>`
    select number, kind, turn_id, data, iso_time(created_at) as "createdAt" from events
    where conversation_id = ${request.conversationId} and number > ${request.after ?? 0}
    order by number limit ${request.limit ?? 500}`;
}

/** The newest events, or the newest before a number, of some kinds or of all, in order; at most `limit`. */
export async function listNewestEvents(
  sql: Database,
  request: {
    readonly conversationId: string;
    readonly kinds?: readonly string[];
    readonly before?: number;
    readonly limit: number;
  },
): Promise<EventRow[]> {
  const { conversationId, kinds, before, limit } = request;
  if (!isId(conversationId)) return [];
  const rows = await sql<EventRow[]>`
    select number, kind, turn_id, data, iso_time(created_at) as "createdAt" from events
    where conversation_id = ${conversationId} ${kinds === undefined ? sql`` : sql`and kind = any(${[...kinds]})`}
      ${before === undefined ? sql`` : sql`and number < ${before}`}
    order by number desc limit ${limit}`;
  return rows.reverse();
}

export async function recordEvent<Kind extends EventKind>(
  sql: Database,
  event: { readonly turn: TurnReference; readonly kind: Kind; readonly data: EventDataByKind[Kind] },
): Promise<void> {
  await writeAsTurn(sql, event.turn, (writer) => writer.event(event.kind, event.data));
}

/** The same for what a step can say but once: an activity that is repeated after a crash changes nothing. */
export async function recordEventOnce<Kind extends 'compaction_exhausted' | 'compaction_cancelled'>(
  sql: Database,
  event: {
    readonly turn: TurnReference;
    readonly kind: Kind;
    readonly callNumber: number;
    readonly data: EventDataByKind[Kind];
  },
): Promise<void> {
  const { turn, kind, callNumber, data } = event;
  await writeAsTurn(sql, turn, async (writer) => {
    const [known] = await writer.sql`
      select from events where turn_id = ${turn.turnId} and kind = ${kind} and data ->> 'callNumber' = ${String(callNumber)}
        and kind in ('compaction_exhausted', 'compaction_cancelled') and data ? 'callNumber'`;
    if (known === undefined) await writer.event(kind, { callNumber, ...data });
  });
}
