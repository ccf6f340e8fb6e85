import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Queries } from '../database/database.ts';

/** Passes that the turn made after overflows that the provider reported. */
export async function countRecoveries(sql: Queries, { conversationId, turnId }: TurnReference): Promise<number> {
  const [row] = await sql<{ recoveries: number }[]>`
    select count(*)::int as recoveries from compactions
    where conversation_id = ${conversationId} and turn_id = ${turnId} and reason = 'overflow' and status = 'committed'`;
  return row?.recoveries ?? 0;
}
