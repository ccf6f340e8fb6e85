import type { ContentPart } from '../../context/log/content.ts';
import type { Measurements } from '../../context/log/measurements.ts';
import type { AnswerForm } from '../../turn/agent-snapshot.ts';
import type { ConversationCounts } from '../../turn/spending.ts';
import { requireMayResume } from './resumes.ts';
import { branchIsBusy } from '../conversations/branches.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { notifyWatchers } from '../log/event-writer.ts';
import { isId } from '../database/ids.ts';
import { measurementsText } from '../log/measurement-columns.ts';
import { jsonText } from '../log/stored-text.ts';
import { transaction } from '../database/transaction.ts';

export type MessageKind = 'message' | 'stop' | 'compact' | 'resume' | 'fork' | 'switch';

/** `steer` enters at the next step boundary, `queue` starts the next turn. Commands have no mode. */
export type MessageMode = 'steer' | 'queue';

/** What a conversation sets instead of its agent's own; `null` leaves the agent's. */
export interface ConversationSettings {
  /** `provider/model`. */
  readonly model: string | null;
  readonly preset: string | null;
  /** Absolute path. */
  readonly workspace: string | null;
  /** Whose memories of scope `user` it is shown and writes. */
  readonly user: string | null;
}

export interface MessageInput {
  /** Chosen by the sender, 1 to 200 characters; sending it twice to a conversation is sending it once. */
  readonly id: string;
  readonly conversationId: string;
  /** Task queue of the sender's workers: the conversation goes over to it. Default: it stays where it is. */
  readonly taskQueue?: string;
  readonly kind: MessageKind;
  /** Default: `steer`. */
  readonly mode?: MessageMode;
  readonly content: readonly ContentPart[];
  readonly measurements: Measurements;
  /** `compact` only: what the summary should dwell on. */
  readonly focus?: string;
  /** `message` of mode `queue` only: the form of the final answer. Default: the agent's. */
  readonly output?: AnswerForm;
  /** `resume` only: how much the limits are raised. */
  readonly raise?: Partial<ConversationCounts>;
  /** `fork` and `switch` only: where to go, and whether what is left behind is summarized. */
  readonly target?: BranchTarget;
  /** `message` only: the fork behind which it is answered, or not at all. Set by `acceptOnNewBranch`. */
  readonly followsId?: string;
}

export interface BranchTarget {
  /** `fork`: the entry after which the branch begins; `null` for before the first. */
  readonly entryId?: string | null;
  readonly branch?: number;
  readonly summarizes: boolean;
}

export interface AcceptedMessage {
  readonly state: 'accepted' | 'duplicate';
  /** A turn is open in Postgres. It takes messages and requests to compact without a doorbell. */
  readonly isTurnOpen: boolean;
}

/** User messages that may wait in a conversation: more would be one transaction of many seconds. */
const MOST_WAITING_MESSAGES = 1_000;

const LONGEST_MESSAGE_ID = 200;

/**
 * Writes the message's row; returns after the commit. Locks the conversation first, so a sender waits for a write of the turn at most.
 * @throws StoreError `message_id_reused`, `invalid_message_id`, `invalid_id`, `conversation_not_found`, `too_many_waiting`,
 * `resume_waiting` (another one waits), `conversation_busy` (a resume beside a turn or a change of branch), `nothing_to_resume`, `limit_not_raised`
 */
export async function acceptMessage(sql: Database, message: MessageInput): Promise<AcceptedMessage> {
  checkIds(message);
  const accepted = await transaction(sql, async (open): Promise<AcceptedMessage> => {
    const isTurnOpen = await lockConversation(open, message);
    const state = await insertMessage(open, message);
    if (state === 'accepted' && message.target !== undefined) await requireIdle(open, message);
    if (state === 'accepted' && message.kind === 'resume') await requireMayResume(open, message);
    return { state, isTurnOpen };
  });
  if (accepted.state === 'accepted') await notifyWatchers(sql, message.conversationId, 0);
  return accepted;
}

/**
 * Writes a fork and the message that is to be answered behind it: both, or neither. When the fork is refused later, the message
 * is taken back with it.
 * @returns `duplicate` when the message was sent before, with a fork of its own
 * @throws StoreError as `acceptMessage`, and `conversation_busy`, `entry_not_found`
 */
export async function acceptOnNewBranch(
  sql: Database,
  fork: MessageInput,
  message: MessageInput,
): Promise<AcceptedMessage> {
  checkIds(fork);
  checkIds(message);
  const accepted = await transaction(sql, async (open): Promise<AcceptedMessage> => {
    // Of two that send the same at once, the second finds the message of the first.
    const isTurnOpen = await lockConversation(open, fork);
    if (await isMessageKnown(open, message)) return { state: await insertMessage(open, message), isTurnOpen };
    await insertMessage(open, fork);
    await requireIdle(open, fork);
    return { state: await insertMessage(open, { ...message, followsId: fork.id }), isTurnOpen };
  });
  if (accepted.state === 'accepted') await notifyWatchers(sql, message.conversationId, 0);
  return accepted;
}

function checkIds({ id, conversationId, target }: MessageInput): void {
  const entryId = target?.entryId ?? null;
  if (entryId !== null && !isId(entryId)) throw noSuchEntry(conversationId, entryId);
  if (!isId(conversationId)) {
    throw new StoreError(
      'invalid_id',
      `conversation id "${conversationId}" is not a UUID: give one, or none for a new conversation`,
    );
  }
  checkMessageId(id);
}

export function checkMessageId(id: string): void {
  if (id.length === 0 || id.length > LONGEST_MESSAGE_ID || id.includes('\0')) {
    throw new StoreError(
      'invalid_message_id',
      `a message id has 1 to ${LONGEST_MESSAGE_ID} characters without NUL, not ${id.length}`,
    );
  }
}

/**
 * Held until the commit, and taken before the row gets its position. Whoever begins or ends a turn holds the same lock: the turn that
 * is about to end sees the row, or the sender sees that no turn is open and rings. A change of branch stands before all that come later.
 * @returns whether a turn is open
 * @throws StoreError `conversation_not_found`
 */
async function lockConversation(sql: Transaction, { conversationId, taskQueue }: MessageInput): Promise<boolean> {
  const [found] = await sql<{ queue: string; activeTurnId: string | null }[]>`
    select task_queue as queue, active_turn_id from conversations where id = ${conversationId} for no key update`;
  if (taskQueue !== undefined && found !== undefined && found.queue !== taskQueue)
    await sql`update conversations set task_queue = ${taskQueue} where id = ${conversationId}`;
  if (found !== undefined) return found.activeTurnId !== null;
  throw new StoreError(
    'conversation_not_found',
    `there is no conversation ${conversationId}; begin one with a message that names an agent`,
  );
}

/**
 * A branch is changed between turns only, and only where nothing waits: so what follows a fork is always answered on its branch. A turn
 * that begins at this very moment refuses it later.
 */
async function requireIdle(sql: Transaction, { id, conversationId, kind, target }: MessageInput): Promise<void> {
  const [row] = await sql<{ busy: boolean; known: boolean }[]>`
    select c.active_turn_id is not null or exists (
        select from messages m where m.conversation_id = c.id and m.consumed_at is null and m.id <> ${id}) as busy,
      case when ${kind} = 'fork'
        then ${target?.entryId ?? null}::uuid is null or exists (
          select from entries e where e.conversation_id = c.id and e.id = ${target?.entryId ?? null})
        else exists (
          select from branches b where b.conversation_id = c.id and b.branch = ${target?.branch ?? null}) end as known
    from conversations c where c.id = ${conversationId}`;
  if (row?.busy === true) throw branchIsBusy(conversationId);
  if (row?.known === true) return;
  throw kind === 'fork'
    ? noSuchEntry(conversationId, target?.entryId ?? '')
    : new StoreError('branch_not_found', `conversation ${conversationId} has no branch ${target?.branch ?? ''}`);
}

/**
 * Writes the row, or finds it written. The conversation is locked.
 * @throws StoreError `message_id_reused` for another message under the id, `too_many_waiting`
 */
export async function insertMessage(sql: Transaction, message: MessageInput): Promise<AcceptedMessage['state']> {
  const { count } = await sql`
    insert into messages (conversation_id, id, kind, mode, content, focus, output, raise, measurements, target_entry_id,
      target_branch, summarizes, follows_id, sent_epoch)
    select ${message.conversationId}, ${message.id}, ${message.kind}, ${message.mode ?? 'steer'},
      ${jsonText(message.content)}::text::json,
      ${message.focus === undefined ? null : jsonText(message.focus)}::text::json,
      ${message.output === undefined ? null : jsonText(message.output)}::text::json,
      ${message.raise === undefined ? null : jsonText(message.raise)}::text::json,
      ${measurementsText(message.measurements)}::measurements, ${message.target?.entryId ?? null},
      ${message.target?.branch ?? null}, ${message.target?.summarizes ?? null},
      ${message.followsId ?? null}, (select epoch from conversations where id = ${message.conversationId})
    where ${message.kind} <> 'message' or ${MOST_WAITING_MESSAGES}::integer > (
      select count(*) from messages
      where conversation_id = ${message.conversationId} and consumed_at is null and kind = 'message')
    on conflict (conversation_id, id) do nothing`;
  if (count > 0) return 'accepted';
  await requireSameMessage(sql, message);
  return 'duplicate';
}

async function requireSameMessage(sql: Transaction, message: MessageInput): Promise<void> {
  const [row] = await sql<{ same: boolean }[]>`
    select kind = ${message.kind} and mode = ${message.mode ?? 'steer'}
      and content::text = ${jsonText(message.content)}
      and coalesce(focus::text, '') = ${message.focus === undefined ? '' : jsonText(message.focus)}
      and coalesce(output::text, '') = ${message.output === undefined ? '' : jsonText(message.output)}
      and coalesce(raise::text, '') = ${message.raise === undefined ? '' : jsonText(message.raise)} as same
    from messages where conversation_id = ${message.conversationId} and id = ${message.id}`;
  if (row === undefined) {
    throw new StoreError(
      'too_many_waiting',
      `conversation ${message.conversationId} has ${MOST_WAITING_MESSAGES} messages that wait for its turns: send again when some are taken`,
    );
  }
  if (row.same) return;
  throw new StoreError(
    'message_id_reused',
    `"${message.id}" is the id of another message of the conversation; give each message, and each start, an id of its own`,
  );
}

async function isMessageKnown(
  sql: Queries,
  { conversationId, id }: Pick<MessageInput, 'conversationId' | 'id'>,
): Promise<boolean> {
  const rows = await sql`select from messages where conversation_id = ${conversationId} and id = ${id}`;
  return rows.length > 0;
}

function noSuchEntry(conversationId: string, entryId: string): StoreError {
  return new StoreError('entry_not_found', `conversation ${conversationId} has no entry ${JSON.stringify(entryId)}`);
}
