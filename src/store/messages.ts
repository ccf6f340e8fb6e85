import type { ContentPart } from '../context/content.ts';
import type { Measurements } from '../context/measurements.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { requireMayResume } from './accept-resume.ts';
import { branchIsBusy } from './branches.ts';
import type { Database, Fragment, Transaction } from './database.ts';
import { StoreError } from './errors.ts';
import { notifyWatchers } from './event-writer.ts';
import { isId } from './ids.ts';
import { measurementsText } from './measurement-columns.ts';
import { isoTime, jsonText } from './stored-text.ts';
import { transaction } from './transaction.ts';

/** What a user sent: text for the agent, or a command to Holdfast. */
export type MessageKind = 'message' | 'stop' | 'compact' | 'resume' | 'fork' | 'switch';

/** `steer` enters at the next step boundary, `queue` starts the next turn. Commands have no mode. */
export type MessageMode = 'steer' | 'queue';

/** What a conversation sets instead of its agent's own; `null` leaves the agent's. */
export interface ConversationSettings {
  /** `provider/model`. */
  readonly model: string | null;
  /** Name of a compaction preset. */
  readonly preset: string | null;
  /** Absolute path. */
  readonly workspace: string | null;
  /** Whose memories of scope `user` it is shown and writes. */
  readonly user: string | null;
}

export interface MessageInput {
  /** Chosen by the sender, 1 to 200 characters; sending it twice is sending it once. */
  readonly id: string;
  readonly conversationId: string;
  /** Name of the agent. Needed when the conversation is new, ignored later. */
  readonly agent?: string;
  /** Used when the conversation is new, ignored later. */
  readonly settings?: ConversationSettings;
  /**
   * An open turn whose workflow is gone: it keeps no branch from being changed and no task from being resumed, since the turn that does
   * so ends it first.
   */
  readonly lostTurnId?: string;
  /** What the sender takes for the conversation's own; refused when it differs. Default: anything will do. */
  readonly expects?: Partial<Record<keyof ConversationSettings | 'agent', string>>;
  readonly kind: MessageKind;
  /** Default: `steer`. */
  readonly mode?: MessageMode;
  /** Empty for commands. */
  readonly content: readonly ContentPart[];
  readonly measurements: Measurements;
  /** `compact` only: what the summary should dwell on. */
  readonly focus?: string;
  /** `resume` only: how much the limits are raised. */
  readonly raise?: Partial<ConversationCounts>;
  /** `resume` only: the branch whose task it is to go on with; refused when the conversation goes on with another. Default: any. */
  readonly onBranch?: number;
  /** `resume` only: the turn whose task it is to go on with; refused when a turn runs, or the task has gone on or is done. Default: any. */
  readonly onTask?: string;
  /** `fork` and `switch` only: where to go, and whether what is left behind is summarized. */
  readonly target?: BranchTarget;
  /** `message` only: the fork behind which it is answered, or not at all. Set by `acceptOnNewBranch`. */
  readonly followsId?: string;
}

export interface BranchTarget {
  /** `fork`: the entry after which the branch begins; `null` for before the first. */
  readonly entryId?: string | null;
  /** `switch`: the branch. */
  readonly branch?: number;
  readonly summarizes: boolean;
}

export interface AcceptedMessage {
  readonly state: 'accepted' | 'duplicate';
  /** The conversation did not exist before. */
  readonly newConversation: boolean;
}

/** Characters of a message id. */
const LONGEST_MESSAGE_ID = 200;

/**
 * Writes the message's row, and the conversation's when it is new; returns after the commit. Takes
 * no lock that a turn holds, so a sender never waits for a turn; that of a `resume`, which no turn should run beside, for a write of it at most.
 * @throws StoreError `message_id_reused`, `invalid_message_id`, `invalid_id`, `conversation_differs`, `conversation_not_found`
 * (a command, or a message without agent, for a conversation that does not exist), `resume_waiting` (another one waits),
 * `conversation_busy` (a resume beside a change of branch), `nothing_to_resume` (what it was to go on with has gone on)
 */
export async function acceptMessage(sql: Database, message: MessageInput): Promise<AcceptedMessage> {
  checkIds(message);
  const accepted = await transaction(sql, async (open): Promise<AcceptedMessage> => {
    const newConversation = await ensureConversation(open, message);
    if (!newConversation && message.expects !== undefined) await requireExpected(open, message, message.expects);
    const inserted = await insertMessage(open, message);
    if (inserted && message.target !== undefined) await requireIdle(open, message);
    if (inserted && message.kind === 'resume') await requireMayResume(open, message);
    if (!inserted) await requireSameMessage(open, message);
    return { state: inserted ? 'accepted' : 'duplicate', newConversation };
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
  const state = await transaction(sql, async (open): Promise<AcceptedMessage['state']> => {
    // Of two that send the same at once, the second finds the message of the first.
    await open`select pg_advisory_xact_lock(hashtextextended(${`message ${message.id}`}, 0))`;
    const [known] = await open`select from messages where id = ${message.id}`;
    if (known === undefined) {
      await ensureConversation(open, fork);
      await insertMessage(open, fork);
      await requireIdle(open, fork);
      if (await insertMessage(open, { ...message, followsId: fork.id })) return 'accepted';
      throw idReused(message);
    }
    await requireSameMessage(open, message);
    return 'duplicate';
  });
  if (state === 'accepted') await notifyWatchers(sql, message.conversationId, 0);
  return { state, newConversation: false };
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
  if (id.length === 0 || id.length > LONGEST_MESSAGE_ID || id.includes('\0')) {
    throw new StoreError(
      'invalid_message_id',
      `a message id has 1 to ${LONGEST_MESSAGE_ID} characters without NUL, not ${id.length}`,
    );
  }
}

async function ensureConversation(sql: Transaction, message: MessageInput): Promise<boolean> {
  const { conversationId, agent, settings, kind } = message;
  const [found] = await sql<{ known: boolean }[]>`
    select ${branchLock(sql, message)}, exists (select from conversations where id = ${conversationId}) as known`;
  if (found?.known === true) return false;
  if (agent === undefined || kind !== 'message') {
    throw new StoreError(
      'conversation_not_found',
      `there is no conversation ${conversationId}; begin one with a message that names an agent`,
    );
  }
  const { count } = await sql`
    insert into conversations (id, agent, model, preset, workspace, user_name)
    values (${conversationId}, ${agent}, ${settings?.model ?? null}, ${settings?.preset ?? null},
      ${settings?.workspace ?? null}, ${settings?.user ?? null})
    on conflict do nothing`;
  return count > 0;
}

/**
 * Held until the commit, and taken before the row gets its position: a change of branch waits for the messages that are being sent,
 * sees them when it asks whether the conversation is idle, and stands before all that come later. Messages do not wait for each other.
 */
function branchLock(sql: Transaction, { conversationId, target }: MessageInput): Fragment {
  const key = sql`hashtextextended(${`branch of ${conversationId}`}, 0)`;
  return target === undefined ? sql`pg_advisory_xact_lock_shared(${key})` : sql`pg_advisory_xact_lock(${key})`;
}

async function requireExpected(
  sql: Transaction,
  { conversationId }: MessageInput,
  expects: NonNullable<MessageInput['expects']>,
): Promise<void> {
  const [row] = await sql<({ agent: string } & ConversationSettings)[]>`
    select agent, model, preset, workspace, user_name as "user" from conversations where id = ${conversationId}`;
  for (const name of ['agent', 'model', 'preset', 'workspace', 'user'] as const) {
    const expected = expects[name];
    const found = row?.[name] ?? null;
    if (expected === undefined || expected === found) continue;
    const has = found === null ? `no ${name} of its own` : `the ${name} "${found}"`;
    throw new StoreError(
      'conversation_differs',
      `conversation ${conversationId} has ${has}, not "${expected}": leave it out, or start another conversation`,
    );
  }
}

/**
 * A branch is changed between turns only, and only where nothing waits: so what follows a fork is always answered on its branch. A turn
 * that begins at this very moment refuses it later.
 */
async function requireIdle(
  sql: Transaction,
  { id, conversationId, kind, target, lostTurnId }: MessageInput,
): Promise<void> {
  const [row] = await sql<{ busy: boolean; known: boolean }[]>`
    select c.active_turn_id is not null and c.active_turn_id is distinct from ${lostTurnId ?? null} or exists (
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

/** False when the id was used before. */
async function insertMessage(sql: Transaction, message: MessageInput): Promise<boolean> {
  const { count } = await sql`
    insert into messages (id, conversation_id, kind, mode, content, focus, raise, measurements, target_entry_id,
      target_branch, summarizes, follows_id, sent_epoch)
    values (${message.id}, ${message.conversationId}, ${message.kind}, ${message.mode ?? 'steer'},
      ${jsonText(message.content)}::text::json,
      ${message.focus === undefined ? null : jsonText(message.focus)}::text::json,
      ${message.raise === undefined ? null : jsonText(message.raise)}::text::json,
      ${measurementsText(message.measurements)}::measurements, ${message.target?.entryId ?? null},
      ${message.target?.branch ?? null}, ${message.target?.summarizes ?? null},
      ${message.followsId ?? null}, (select epoch from conversations where id = ${message.conversationId}))
    on conflict (id) do nothing`;
  return count > 0;
}

async function requireSameMessage(sql: Transaction, message: MessageInput): Promise<void> {
  const [row] = await sql<{ same: boolean }[]>`
    select conversation_id = ${message.conversationId} and kind = ${message.kind} and mode = ${message.mode ?? 'steer'}
      and content::text = ${jsonText(message.content)}
      and coalesce(focus::text, '') = ${message.focus === undefined ? '' : jsonText(message.focus)}
      and coalesce(raise::text, '') = ${message.raise === undefined ? '' : jsonText(message.raise)} as same
    from messages where id = ${message.id}`;
  if (row?.same !== true) throw idReused(message);
}

function idReused({ id }: MessageInput): StoreError {
  return new StoreError(
    'message_id_reused',
    `message id "${id}" was used for another message; give each message an id of its own`,
  );
}

/** Whether a message with this id was sent before, to whatever conversation. */
export async function isMessageKnown(sql: Database, id: string): Promise<boolean> {
  const rows = await sql`select from messages where id = ${id}`;
  return rows.length > 0;
}

export interface MessageRow {
  readonly id: string;
  readonly conversationId: string;
  readonly kind: MessageKind;
  readonly mode: MessageMode;
  readonly content: readonly ContentPart[];
  readonly createdAt: string;
}

/** Messages and commands that no turn has taken, oldest first. */
export async function listWaitingMessages(sql: Database, conversationId: string): Promise<MessageRow[]> {
  if (!isId(conversationId)) return [];
  const rows = await sql<
    { id: string; kind: MessageKind; mode: MessageMode; content: readonly ContentPart[]; created_at: Date }[]
  >`
    select id, kind, mode, content, created_at from messages
    where conversation_id = ${conversationId} and consumed_at is null order by position`;
  return rows.map((row) => ({
    id: row.id,
    conversationId,
    kind: row.kind,
    mode: row.mode,
    content: row.content,
    createdAt: isoTime(row.created_at),
  }));
}

function noSuchEntry(conversationId: string, entryId: string): StoreError {
  return new StoreError('entry_not_found', `conversation ${conversationId} has no entry ${JSON.stringify(entryId)}`);
}
