import type { Database, Queries } from '../database.ts';
import { transaction } from '../transaction.ts';
import { holdConversation } from './hold-conversation.ts';
import { indexConversation } from './index-conversation.ts';
import type { IndexedCount } from './index-conversation.ts';

/**
 * Builds the index of a conversation anew from its log. A search that comes meanwhile waits for it
 * or finds the part that is done.
 * @param options.signal stops it after the batch that is under way; the rest follows with upkeep or the next search.
 * @throws StoreError `conversation_not_found`
 */
export async function reindexConversation(
  sql: Database,
  conversationId: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<IndexedCount> {
  // By itself first, because a step would wait for it until the old index is gone.
  await markUnindexed(sql, conversationId);
  await transaction(sql, async (open) => {
    await holdConversation(open, conversationId);
    // Locked next, as when indexing: who indexes now finishes before.
    await open`select from search_progress where conversation_id = ${conversationId} for update`;
    // Nothing to do, unless somebody finished indexing in between.
    await markUnindexed(open, conversationId);
    const [words] = await open<{ terms: string[] }[]>`
      select coalesce(array_agg(s.term), '{}') as terms from search_statistics s
      join search_progress p on p.number = s.conversation_number where p.conversation_id = ${conversationId}`;
    await open`delete from passages where conversation_id = ${conversationId}`;
    await open`delete from search_progress where conversation_id = ${conversationId}`;
    // Here and not when it is whole again: deleted before that, nothing would tell any more which words it had.
    await open`select forget_words(${words?.terms ?? []}::text[])`;
  });
  return indexConversation(sql, conversationId, options);
}

/** So that upkeep or a search finishes it when this is interrupted. */
async function markUnindexed(sql: Queries, conversationId: string): Promise<void> {
  await sql`update conversations set is_unindexed = true where id = ${conversationId} and not is_unindexed`;
}

/** All conversations, those that were active last first. */
export async function listIndexable(sql: Database): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from conversations order by active_at desc, id desc`;
  return rows.map(({ id }) => id);
}
