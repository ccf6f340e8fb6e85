import { LONGEST_UNSEEN_WAIT_MILLISECONDS } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database } from '../database/database.ts';

/**
 * How long the turn still has to wait for a provider that is out, as it was told. Shorter waits are over when it is asked again.
 * @returns milliseconds; 0 when no such wait stands
 */
export async function outageWaitLeft(sql: Database, turn: TurnReference): Promise<number> {
  const [row] = await sql<{ left: number | null }[]>`
    select extract(epoch from max(created_at + make_interval(secs => (data ->> 'delayMilliseconds')::float8 / 1000))
      - holdfast_now())::float8 * 1000 as left
    from events
    where conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId} and kind = 'turn_waiting' and created_at <= holdfast_now()
      and data ->> 'reason' = 'outage' and (data ->> 'delayMilliseconds')::float8 > ${LONGEST_UNSEEN_WAIT_MILLISECONDS}`;
  return Math.max(0, Math.ceil(row?.left ?? 0));
}
