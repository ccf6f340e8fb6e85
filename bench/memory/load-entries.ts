import type { Database } from '../../src/store/database.ts';
import { newId } from '../../src/store/ids.ts';

/** Rows of one statement. */
const ROWS = 5_000;

/**
 * A conversation whose users said these texts, ten seconds apart, the newest now: written as the server would have
 * left it, with triggers and foreign keys off, because a real step for each would take hours. Returns the
 * ids of the entries in order.
 * @param times when each was said, instead
 */
export async function loadEntries(
  sql: Database,
  count: number,
  textOf: (index: number) => string,
  times?: readonly Date[],
): Promise<{ readonly conversationId: string; readonly entryIds: readonly string[] }> {
  const conversationId = newId();
  const turnId = newId();
  const entryIds: string[] = [];
  await sql`insert into conversations (id, agent) values (${conversationId}, 'bench')`;
  for (let first = 0; first < count; first += ROWS) {
    const indexes = Array.from({ length: Math.min(ROWS, count - first) }, (_, row) => first + row);
    const ids = indexes.map(() => newId());
    const contents = indexes.map((index) => JSON.stringify([{ type: 'text', text: textOf(index) }]));
    await sql.begin(async (open) => {
      await open`set local session_replication_role = replica`;
      await open`
        insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, content, measurements,
          sums, created_at)
        select r.id, ${conversationId}, r.sequence, 0, case when r.sequence > 1 then r.id end, 'user', ${turnId}, 1,
          r.content::json, no_measurements(), no_measurements(),
          coalesce(r.said_at, now() - (${count} - r.sequence) * interval '10 seconds')
        from unnest(${ids}::uuid[], ${indexes.map((index) => index + 1)}::int[], ${contents}::text[],
          ${indexes.map((index) => times?.[index]?.toISOString() ?? null)}::timestamptz[])
          as r (id, sequence, content, said_at)`;
      await open`update conversations set last_sequence = ${first + indexes.length} where id = ${conversationId}`;
    });
    entryIds.push(...ids);
  }
  return { conversationId, entryIds };
}
