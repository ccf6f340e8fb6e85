import type { Database } from '../database.ts';
import { transaction } from '../transaction.ts';
import { indexConversation } from './index-conversation.ts';
import type { IndexedCount } from './index-conversation.ts';

/**
 * Builds the index of a conversation anew from its log. A search that comes meanwhile waits for it
 * or finds the part that is done.
 * @param options.signal stops it after the batch that is under way; the rest follows with upkeep or the next search.
 */
export async function reindexConversation(
  sql: Database,
  conversationId: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<IndexedCount> {
  await transaction(sql, async (open) => {
    // Locked first, as when indexing: who indexes now finishes before.
    await open`select from search_progress where conversation_id = ${conversationId} for update`;
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

/** All conversations, those that were active last first. */
export async function listIndexable(sql: Database): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from conversations order by active_at desc, id desc`;
  return rows.map(({ id }) => id);
}
