import type { ContentPart } from '../context/content.ts';
import type { Measurements } from '../context/measurements.ts';
import type { Database } from './database.ts';

/** What a user sent: text for the agent, or a command to Holdfast. */
export type MessageKind = 'message' | 'stop' | 'compact';

/** `steer` enters at the next step boundary, `queue` starts the next turn. Commands have no mode. */
export type MessageMode = 'steer' | 'queue';

export interface MessageInput {
  /** Chosen by the sender, 1 to 200 characters; sending it twice is sending it once. */
  readonly id: string;
  readonly conversationId: string;
  /** Name of the agent; used when the conversation is new, ignored later. */
  readonly agent: string;
  readonly kind: MessageKind;
  /** Default: `steer`. */
  readonly mode?: MessageMode;
  /** Empty for commands. */
  readonly content: readonly ContentPart[];
  readonly measurements: Measurements;
  /** `compact` only: what the summary should dwell on. */
  readonly focus?: string;
}

export interface AcceptedMessage {
  readonly state: 'accepted' | 'duplicate';
  readonly conversationId: string;
  /** The conversation did not exist before. */
  readonly newConversation: boolean;
}

/**
 * Writes the message's row, and the conversation's when it is new; returns after the commit. Takes
 * no lock on the conversation, so a sender never waits for a turn.
 * @throws StoreError `message_id_reused`, `invalid_message_id`, `invalid_id`
 */
export async function acceptMessage(_sql: Database, _message: MessageInput): Promise<AcceptedMessage> {
  throw new Error('unwritten');
}

export interface MessageRow {
  readonly id: string;
  readonly conversationId: string;
  readonly kind: MessageKind;
  readonly mode: MessageMode;
  readonly content: readonly ContentPart[];
  readonly createdAt: string;
  /** The turn that took it; `null` while it waits. */
  readonly turnId: string | null;
  readonly entryId: string | null;
}

/** Messages and commands that no turn has taken, oldest first. */
export async function listWaitingMessages(_sql: Database, _conversationId: string): Promise<MessageRow[]> {
  throw new Error('unwritten');
}
