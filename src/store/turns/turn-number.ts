import type { Fragment, Queries } from '../database/database.ts';

/** Number of a turn in its conversation, from 1, as people name it; in a query in which the turn's row is `t`. It never changes. */
export function turnNumber(sql: Queries): Fragment {
  return sql`(select count(*) from turns n where n.conversation_id = t.conversation_id and n.epoch <= t.epoch)::int`;
}

export async function readTurnNumber(sql: Queries, turnId: string): Promise<number> {
  const [row] = await sql<
    { number: number }[]
  >`select ${turnNumber(sql)} as number from turns t where t.id = ${turnId}`;
  return row?.number ?? 0;
}

export function turnNumbered(sql: Queries, conversationId: string, number: number): Fragment {
  if (number < 1) return sql`null::uuid`;
  return sql`(select n.id from turns n where n.conversation_id = ${conversationId} order by n.epoch offset ${number - 1} limit 1)`;
}
