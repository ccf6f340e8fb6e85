import type { Database, Queries } from '../database/database.ts';
import { transaction } from '../database/transaction.ts';
import { indexConversation, lockAgainstDeletion } from './index-conversation.ts';
import type { IndexedCount } from './index-conversation.ts';

/**
 * Builds the index of a conversation anew from its log. A search meanwhile finds the part that is done.
 * @param options.signal stops it after the batch that is under way; upkeep or the next search finishes it
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
    await lockAgainstDeletion(open, conversationId);
    // Whoever indexes now finishes before.
    await open`select from search_progress where conversation_id = ${conversationId} for update`;
    await markUnindexed(open, conversationId);
    await open`select forget_passages(${conversationId})`;
  });
  return indexConversation(sql, conversationId, options);
}

async function markUnindexed(sql: Queries, conversationId: string): Promise<void> {
  await sql`update conversations set is_unindexed = true where id = ${conversationId} and not is_unindexed`;
}

/** All conversations, those that were active last first. */
export async function listIndexable(sql: Database): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from conversations order by active_at desc, id desc`;
  return rows.map(({ id }) => id);
}
