import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Queries } from '../database/database.ts';
import { jsonText, plainText } from './stored-text.ts';
import type { EventDataByKind, EventKind } from './timeline.ts';

/** NOTIFY channel of the timeline. Payload: `<conversation id> <number of the newest event>`, or `<conversation id> 0` for a message that waits. */
export const EVENTS_CHANNEL = 'holdfast_events';

/** `turnId`: `null` for what happens before a turn begins. */
export type EventTurn = Omit<TurnReference, 'turnId'> & { readonly turnId: string | null };

export async function insertEvent<Kind extends EventKind>(
  sql: Queries,
  turn: EventTurn,
  kind: Kind,
  data: EventDataByKind[Kind],
): Promise<number> {
  const [row] = await sql<{ number: number }[]>`
    insert into events (conversation_id, turn_id, epoch, kind, data)
    values (${turn.conversationId}, ${turn.turnId}, ${turn.epoch}, ${kind}, ${jsonText(cleaned(data))}::text::jsonb)
    returning number`;
  return row?.number ?? 0;
}

/** A tool's name is the model's invention when the tool is unknown; jsonb holds neither NUL nor lone surrogates. */
function cleaned(data: object): object {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]: [string, unknown]) => [
      key,
      typeof value === 'string' ? plainText(value) : value,
    ]),
  );
}

/**
 * Milliseconds for which notifications are gathered. A step appends three times, and each notification is a statement of its own:
 * together, those of all turns of a worker are twenty a second.
 */
const GATHERED_MILLISECONDS = 50;

const gathered = new WeakMap<Database, Map<string, number>>();

/** Wakes watchers soon, and nobody waits for it. What a process that ends leaves untold, watchers find by their own look. */
export function notifyWatchersSoon(sql: Database, conversationId: string, newestEvent: number): void {
  const waiting = gathered.get(sql);
  const newest = waiting ?? new Map<string, number>();
  newest.set(conversationId, Math.max(newestEvent, newest.get(conversationId) ?? 0));
  if (waiting !== undefined) return;
  gathered.set(sql, newest);
  const tell = (): void => {
    gathered.delete(sql);
    void notify(sql, newest);
  };
  setTimeout(tell, GATHERED_MILLISECONDS).unref();
}

export async function notifyWatchers(sql: Database, conversationId: string, newestEvent: number): Promise<void> {
  await notify(sql, new Map([[conversationId, newestEvent]]));
}

/**
 * Wakes watchers. What they are told of is committed: a failure here loses no more than time, since
 * watchers also look by themselves, so it does not fail the write that came before. A notification
 * is a transaction that Postgres writes to its log; nobody needs to wait until it is on disk.
 */
async function notify(sql: Database, newest: ReadonlyMap<string, number>): Promise<void> {
  const payloads = [...newest].map(([conversationId, newestEvent]) => `${conversationId} ${newestEvent}`);
  try {
    await sql`
      select set_config('synchronous_commit', 'off', true), pg_notify(${EVENTS_CHANNEL}, payload)
      from unnest(${payloads}::text[]) payload`;
  } catch {
    // The connection broke: the next statement reports it.
  }
}
