import type { Database, Fragment } from './database.ts';

/** Entries that one statement adds up: what a worker holds on to, however long a conversation is. */
const ENTRIES_AT_ONCE = 50_000;
/** Conversations that are looked up at a time. */
const MEASURED_AT_ONCE = 100;

/**
 * Adds up what conversations fill, from the measurements that their entries have; what was added up before is not read
 * again. Ends when told to, and goes on from there the next time: until then a conversation counts as smaller than it is.
 *
 * @param which condition on `conversations c`
 */
export async function measureConversations(sql: Database, which: Fragment, signal: AbortSignal): Promise<void> {
  for (;;) {
    const behind = await sql<{ id: string }[]>`
      select c.id from conversations c left join conversation_sizes s on s.conversation_id = c.id
      where ${which} and c.last_sequence > coalesce(s.through_sequence, 0) limit ${MEASURED_AT_ONCE}`;
    for (const { id } of behind) {
      if (signal.aborted) return;
      await measureOn(sql, id);
    }
    if (behind.length === 0) return;
  }
}

/** Nothing when the conversation was deleted meanwhile. */
async function measureOn(sql: Database, conversationId: string): Promise<void> {
  await sql`
    insert into conversation_sizes as s (conversation_id, through_sequence, entry_bytes, other_bytes)
    select c.id, upto.sequence,
      coalesce(known.entry_bytes, 0) + coalesce((
        select sum((e.measurements).bytes) from entries e
        where e.conversation_id = c.id and e.sequence > coalesce(known.through_sequence, 0) and e.sequence <= upto.sequence), 0),
      coalesce((select sum(o.bytes) from contents o where o.conversation_id = c.id), 0) + coalesce((
        select sum((k.summary_measurements).bytes) from compactions k
        where k.conversation_id = c.id and k.status = 'committed'), 0)
    from conversations c
    left join conversation_sizes known on known.conversation_id = c.id
    cross join lateral (
      select least(c.last_sequence, coalesce(known.through_sequence, 0) + ${ENTRIES_AT_ONCE}) as sequence) as upto
    where c.id = ${conversationId}
    for key share of c
    on conflict (conversation_id) do update set through_sequence = excluded.through_sequence,
      entry_bytes = excluded.entry_bytes, other_bytes = excluded.other_bytes`;
}
