import type { Database } from '../database/database.ts';
import { notifyWatchers } from '../log/event-writer.ts';
import { newId } from '../database/ids.ts';
import { checkMessageId, insertMessage } from '../messages/messages.ts';
import type { AcceptedMessage, ConversationSettings, MessageInput } from '../messages/messages.ts';
import { transaction } from '../database/transaction.ts';

export interface StartInput extends Pick<MessageInput, 'content' | 'measurements' | 'mode'> {
  readonly agent: string;
  readonly settings: ConversationSettings;
  readonly tenant: string;
  readonly taskQueue: string;
  /** Chosen by the sender, 1 to 200 characters; starting twice with it, for a tenant, is starting once. Default: each start is another one. */
  readonly startKey?: string;
  /** Default: a new one. */
  readonly conversationId?: string;
}

export interface StartedConversation extends AcceptedMessage {
  readonly conversationId: string;
  readonly messageId: string;
}

/**
 * Writes a conversation and its first message, whose id is the start key; returns after the commit. A repeated start finds the
 * conversation of the first.
 * @throws StoreError `message_id_reused` (the key belongs to a conversation that began with another message), `invalid_message_id`
 */
export async function startConversation(sql: Database, start: StartInput): Promise<StartedConversation> {
  const { tenant, taskQueue, agent, settings, startKey, conversationId: chosenId = newId(), ...message } = start;
  const messageId = startKey ?? newId();
  checkMessageId(messageId);
  const started = await transaction(sql, async (open): Promise<StartedConversation> => {
    // Of two at once, the second waits here until the first has committed.
    const inserted = await open<{ id: string }[]>`
      insert into conversations (id, tenant, start_key, task_queue, agent, model, preset, workspace, user_name)
      values (${chosenId}, ${tenant}, ${startKey ?? null}, ${taskQueue}, ${agent}, ${settings.model},
        ${settings.preset}, ${settings.workspace}, ${settings.user})
      on conflict (tenant, start_key) do nothing returning id`;
    const [row] =
      inserted.length > 0
        ? inserted
        : await open<{ id: string }[]>`
            select id from conversations where tenant = ${tenant} and start_key = ${startKey ?? null}`;
    if (row === undefined) throw new TypeError('a start finds the conversation that its key belongs to');
    const conversationId = row.id;
    const state = await insertMessage(open, { ...message, id: messageId, conversationId, kind: 'message' });
    return { conversationId, messageId, state, isTurnOpen: false };
  });
  if (started.state === 'accepted') await notifyWatchers(sql, started.conversationId, 0);
  return started;
}
