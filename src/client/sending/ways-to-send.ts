import { measureContent } from '../../context/log/measure.ts';
import type { Database } from '../../store/database/database.ts';
import { StoreError } from '../../store/database/errors.ts';
import { newId } from '../../store/database/ids.ts';
import { acceptMessage, acceptOnNewBranch } from '../../store/messages/messages.ts';
import type { AcceptedMessage, MessageInput } from '../../store/messages/messages.ts';
import { startConversation } from '../../store/conversations/conversations.ts';
import type { StartInput } from '../../store/conversations/conversations.ts';
import type { Doorbell, RungTemporal } from './doorbell.ts';
import { storedOnce } from './stored-once.ts';
import type { SentMessage } from '../types.ts';

export type Sent = Pick<MessageInput, 'conversationId' | 'kind'> & Partial<MessageInput>;

/** What a client gives the conversations that it starts. */
export type ConversationOwner = Pick<StartInput, 'tenant' | 'taskQueue'>;

/** The ways in which a client writes what it sends; each returns once the row is stored, and rings in the background where a turn must act. */
export interface WaysToSend {
  readonly start: (start: Omit<StartInput, 'measurements' | keyof ConversationOwner>) => Promise<SentMessage>;
  readonly send: (sent: Sent) => Promise<SentMessage>;
  /** Sends a fork and the message behind it. */
  readonly sendOnNewBranch: (fork: Sent, sent: Sent) => Promise<SentMessage>;
}

/** Each is refused, with nothing written, when the database belongs to another namespace than the client's. */
export function waysToSend(
  database: Database,
  { temporal, doorbell, owner }: { temporal: RungTemporal; doorbell: Doorbell; owner: ConversationOwner },
): WaysToSend {
  const messageOf = (message: Sent): MessageInput => {
    const { content = [], id = newId() } = message;
    return { ...message, id, taskQueue: owner.taskQueue, content, measurements: measureContent(content) };
  };
  const sendBy = async (message: MessageInput, accept: () => Promise<AcceptedMessage>): Promise<SentMessage> => {
    const { id: messageId, conversationId, kind } = message;
    await temporal.requireNamespace();
    const { state, isTurnOpen } = await storedOnce(accept, (found) => ({ ...found, state: 'accepted' as const })).catch(
      (error: unknown) => {
        // An operator may have terminated the workflow of the turn that is open: the next run ends that turn.
        if (error instanceof StoreError && error.code === 'conversation_busy') doorbell.ringIfLost(conversationId);
        throw error;
      },
    );
    const isTakenAnyhow = isTurnOpen && (kind === 'message' || kind === 'compact');
    if (isTakenAnyhow) doorbell.ringIfLost(conversationId);
    else doorbell.ring(conversationId);
    return { conversationId, messageId, duplicate: state === 'duplicate' };
  };
  const start: WaysToSend['start'] = async (started) => {
    const measurements = measureContent(started.content);
    await temporal.requireNamespace();
    const { startKey = newId() } = started;
    const { conversationId, messageId, state } = await storedOnce(
      () => startConversation(database, { ...started, ...owner, measurements, startKey }),
      (found) => ({ ...found, state: 'accepted' as const }),
    );
    doorbell.ring(conversationId);
    return { conversationId, messageId, duplicate: state === 'duplicate' };
  };
  const send = async (sent: Sent): Promise<SentMessage> => {
    const message = messageOf(sent);
    return sendBy(message, () => acceptMessage(database, message));
  };
  const sendOnNewBranch = async (fork: Sent, sent: Sent): Promise<SentMessage> => {
    const [change, message] = [messageOf(fork), messageOf(sent)];
    return sendBy(message, () => acceptOnNewBranch(database, change, message));
  };
  return { start, send, sendOnNewBranch };
}
