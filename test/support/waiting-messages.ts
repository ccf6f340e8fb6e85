import type { ContentPart } from '../../src/context/log/content.ts';
import type { Database } from '../../src/store/database/database.ts';
import type { MessageKind, MessageMode } from '../../src/store/messages/messages.ts';

interface WaitingMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly kind: MessageKind;
  readonly mode: MessageMode;
  readonly content: readonly ContentPart[];
  readonly createdAt: string;
}

/** Messages and commands that no turn has taken, oldest first. */
export async function listWaitingMessages(sql: Database, conversationId: string): Promise<WaitingMessage[]> {
  return sql<WaitingMessage[]>`
    select id, conversation_id, kind, mode, content, iso_time(created_at) as created_at from messages
    where conversation_id = ${conversationId} and consumed_at is null order by position`;
}
