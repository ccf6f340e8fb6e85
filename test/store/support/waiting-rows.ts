import type { Queries } from '../../../src/store/database/database.ts';

export interface WaitingRows {
  readonly waiting: number;
  /** Of them, messages for the next step. */
  readonly steering: number;
  readonly stopRequested: boolean;
  readonly compactRequested: boolean;
}

/** What waits for the turns of a conversation. */
export async function countWaiting(sql: Queries, conversationId: string): Promise<WaitingRows> {
  const [row] = await sql<WaitingRows[]>`
    select count(*)::int as waiting, (count(*) filter (where kind = 'message' and mode = 'steer'))::int as steering,
      coalesce(bool_or(kind = 'stop'), false) as "stopRequested",
      coalesce(bool_or(kind = 'compact'), false) as "compactRequested"
    from messages where conversation_id = ${conversationId} and consumed_at is null`;
  if (row === undefined) throw new TypeError('an aggregate returns a row');
  return row;
}
