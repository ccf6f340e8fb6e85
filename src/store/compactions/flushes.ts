import type { Database } from '../database/database.ts';

/** The newest summary that was flushed to memory before a pass; `null` when there is none. */
export async function readNewestFlush(
  sql: Database,
  conversationId: string,
): Promise<{ readonly millisecondsAgo: number; readonly tokens: number } | null> {
  const [row] = await sql<{ age: number; tokens: number }[]>`
    select (extract(epoch from holdfast_now() - c.created_at) * 1000)::float8 as age, c.tokens_before as tokens
    from compaction_parts p join compactions c on c.id = p.compaction_id
    where c.conversation_id = ${conversationId} and p.kind = 'flush' and p.state = 'written'
      and c.created_at <= holdfast_now()
    order by c.created_at desc limit 1`;
  return row === undefined ? null : { millisecondsAgo: row.age, tokens: row.tokens };
}
