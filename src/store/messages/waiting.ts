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

export interface Waiting {
  readonly isAny: boolean;
  readonly isStopped: boolean;
  readonly isSteered: boolean;
}

export async function readWaiting(sql: Queries, conversationId: string): Promise<Waiting> {
  const [row] = await sql<Waiting[]>`
    select count(*) > 0 as is_any, coalesce(bool_or(kind = 'stop'), false) as is_stopped,
      coalesce(bool_or(kind = 'message' and mode = 'steer'), false) as is_steered
    from messages where conversation_id = ${conversationId} and consumed_at is null`;
  return row ?? { isAny: false, isStopped: false, isSteered: false };
}

export function staleEpoch(turn: TurnReference, epoch: number | undefined): StoreError {
  return new StoreError(
    'stale_epoch',
    `conversation ${turn.conversationId} is at epoch ${epoch ?? 'unknown'}; turn ${turn.turnId} of epoch ${turn.epoch} was replaced`,
  );
}
