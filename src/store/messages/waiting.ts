import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';

/** Whether a stop waits. It does until the turn ends. */
export async function isStopWaiting(sql: Queries, turn: TurnReference): Promise<boolean> {
  const [row] = await sql<{ epoch: number; stops: boolean }[]>`
    select epoch, exists (
      select from messages m where m.conversation_id = c.id and m.consumed_at is null and m.kind = 'stop') as stops
    from conversations c where id = ${turn.conversationId}`;
  if (row?.epoch !== turn.epoch) throw staleEpoch(turn, row?.epoch);
  return row.stops;
}

export async function isSteered(sql: Queries, conversationId: string): Promise<boolean> {
  const rows = await sql`
    select from messages
    where conversation_id = ${conversationId} and consumed_at is null and kind = 'message' and mode = 'steer' limit 1`;
  return rows.length > 0;
}

export async function isAnythingWaiting(sql: Queries, conversationId: string): Promise<boolean> {
  const rows = await sql`
    select from messages where conversation_id = ${conversationId} and consumed_at is null limit 1`;
  return rows.length > 0;
}

/** Whether something waits that a turn can take, and no stop beside it. */
export async function isUnstoppedWaiting(sql: Queries, conversationId: string): Promise<boolean> {
  const [row] = await sql<{ waits: boolean | null }[]>`
    select bool_and(kind <> 'stop') as waits from messages
    where conversation_id = ${conversationId} and consumed_at is null`;
  return row?.waits === true;
}

export function staleEpoch(turn: TurnReference, epoch: number | undefined): StoreError {
  return new StoreError(
    'stale_epoch',
    `conversation ${turn.conversationId} is at epoch ${epoch ?? 'unknown'}; turn ${turn.turnId} of epoch ${turn.epoch} was replaced`,
  );
}
