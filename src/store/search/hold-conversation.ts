import type { Transaction } from '../database.ts';
import { StoreError } from '../errors.ts';

/**
 * Keeps a conversation from being deleted until the transaction ends; steps go on meanwhile. Comes first in a transaction that indexes:
 * passages lock the conversation by their reference to it, and a deletion has it locked before it comes to the index. Whoever locked
 * the index first would wait for the deletion, which waits for him.
 * @throws StoreError `conversation_not_found`
 */
export async function holdConversation(open: Transaction, conversationId: string): Promise<void> {
  const { count } = await open`select from conversations where id = ${conversationId} for key share`;
  if (count > 0) return;
  throw new StoreError(
    'conversation_not_found',
    `there is no conversation ${conversationId}: it was deleted meanwhile`,
  );
}
