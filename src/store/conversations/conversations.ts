import type { ContentPart } from '../../context/log/content.ts';
import { titleOf } from './branches.ts';
import type { TurnOutcome } from '../../turn/turn-reference.ts';
import type { Database, Queries } from '../database/database.ts';
import { isId, newId } from '../database/ids.ts';
import type { ConversationSettings, AcceptedMessage, MessageInput } from '../messages/messages.ts';
import { usageOf } from '../attempts/usage.ts';
import type { TurnUsage } from '../attempts/usage.ts';
import { notifyWatchers } from '../log/event-writer.ts';
import { checkMessageId, insertMessage } from '../messages/messages.ts';
import { transaction } from '../database/transaction.ts';

/** `working`: a turn is open. `queued`: rows wait and no turn is open. `idle`: neither. */
export type ConversationState = 'working' | 'queued' | 'idle';

export interface ConversationRow {
  readonly id: string;
  readonly agent: string;
  readonly settings: ConversationSettings;
  readonly state: ConversationState;
  readonly createdAt: string;
  /** Of the first message, or the newest begin or end of a turn. */
  readonly activeAt: string;
  readonly activeTurnId: string | null;
  readonly lastOutcome: TurnOutcome | null;
  readonly epoch: number;
  readonly headEntryId: string | null;
  readonly entries: number;
  /** Events of the timeline: the number of the newest one. */
  readonly events: number;
  readonly compactions: number;
  readonly waitingMessages: number;
  /** Secrets replaced in summaries and in what they were made from. */
  readonly secretsRedacted: number;
  readonly usage: TurnUsage;
  /** What the newest model call filled; `null` before the first. */
  readonly fill: { readonly tokens: number; readonly inputBudget: number | null } | null;
  /** First line of the first message, at most 120 characters. */
  readonly title: string;
}

type ConversationColumns = Omit<ConversationRow, 'state' | 'title'> & {
  readonly firstContent: readonly ContentPart[] | null;
};

function conversationColumns(sql: Queries) {
  return sql`c.id, c.agent,
    json_build_object('model', c.model, 'preset', c.preset, 'workspace', c.workspace, 'user', c.user_name) as settings,
    iso_time(c.created_at) as "createdAt", iso_time(c.active_at) as "activeAt", c.active_turn_id, c.epoch,
    c.head_entry_id, c.last_sequence as entries, c.compactions,
    (select coalesce(max(v.number), 0) from events v where v.conversation_id = c.id) as events,
    ${usageOf(sql, sql`c`)} as usage,
    (select json_build_object('tokens', v.data -> 'estimatedTokens', 'inputBudget', v.data -> 'inputBudget') from events v
     where v.conversation_id = c.id and v.kind = 'model_call_started' order by v.number desc limit 1) as fill,
    (select count(*) from messages m where m.conversation_id = c.id and m.consumed_at is null)::int as "waitingMessages",
    (select coalesce(sum((v.data ->> 'count')::int), 0) from events v
     where v.conversation_id = c.id and v.kind = 'secrets_redacted')::int as "secretsRedacted",
    (select t.outcome from turns t
     where t.conversation_id = c.id and t.outcome is not null order by t.epoch desc limit 1) as "lastOutcome",
    (select m.content from messages m
     where m.conversation_id = c.id and m.kind = 'message' order by m.position limit 1) as first_content`;
}

const TITLE_CHARACTERS = 120;

function toConversationRow({ firstContent: first, ...row }: ConversationColumns): ConversationRow {
  return {
    ...row,
    state: row.activeTurnId !== null ? 'working' : row.waitingMessages > 0 ? 'queued' : 'idle',
    title: titleOf(first, TITLE_CHARACTERS),
  };
}

/** `null` when there is none, also for an id that is not a UUID. */
export async function getConversation(sql: Queries, conversationId: string): Promise<ConversationRow | null> {
  if (!isId(conversationId)) return null;
  const [row] = await sql<ConversationColumns[]>`
    select ${conversationColumns(sql)} from conversations c where c.id = ${conversationId}`;
  return row === undefined ? null : toConversationRow(row);
}

export async function hasConversation(sql: Database, conversationId: string): Promise<boolean> {
  if (!isId(conversationId)) return false;
  const rows = await sql`select from conversations where id = ${conversationId}`;
  return rows.length > 0;
}

/**
 * Whether all turns of a conversation remembered for this user. One of an agent without memory has no user, so that nobody knows whose
 * it is.
 */
export async function isConversationOfUser(sql: Queries, conversationId: string, user: string): Promise<boolean> {
  const [row] = await sql<{ isOwn: boolean | null }[]>`
    select bool_and(coalesce(s.content -> 'memory' ->> 'user' = ${user}, false)) as is_own
    from turns t join agent_snapshots s on s.hash = t.snapshot_hash
    where t.conversation_id = ${conversationId}`;
  return row?.isOwn === true;
}

/** Of a deployment that knows no tenants. */
export const DEFAULT_TENANT = 'default';

/** Of no conversation: the default. */
export async function readTenant(sql: Queries, conversationId: string): Promise<string> {
  const [row] = await sql<{ tenant: string }[]>`select tenant from conversations where id = ${conversationId}`;
  return row?.tenant ?? DEFAULT_TENANT;
}

const DEFAULT_PAGE = 50;

export async function listConversations(
  sql: Queries,
  request: {
    /** Default: `default`. */
    readonly tenant?: string;
    readonly state?: ConversationState;
    readonly agent?: string;
    /** ISO time: only those that were active at or after it. */
    readonly since?: string;
    /** Default: 50. */
    readonly limit?: number;
    /** Id of the last conversation of the page before; a later activity of it may repeat rows. */
    readonly beforeId?: string;
  } = {},
): Promise<ConversationRow[]> {
  const { tenant = DEFAULT_TENANT, state, agent, since, beforeId } = request;
  if (beforeId !== undefined && !isId(beforeId)) return [];
  const rows = await sql<ConversationColumns[]>`
    select ${conversationColumns(sql)} from conversations c
    where c.tenant = ${tenant} ${agent === undefined ? sql`` : sql`and c.agent = ${agent}`}
      ${state === undefined ? sql`` : inState(sql, state)}
      ${since === undefined ? sql`` : sql`and c.active_at >= ${since}::timestamptz`}
      ${
        beforeId === undefined
          ? sql``
          : sql`and (c.active_at, c.id) < (select b.active_at, b.id from conversations b where b.id = ${beforeId})`
      }
    order by c.active_at desc, c.id desc limit ${request.limit ?? DEFAULT_PAGE}`;
  return rows.map(toConversationRow);
}

function inState(sql: Queries, state: ConversationState) {
  const waiting = sql`exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null)`;
  switch (state) {
    case 'working':
      return sql`and c.active_turn_id is not null`;
    case 'queued':
      return sql`and c.active_turn_id is null and ${waiting}`;
    case 'idle':
      return sql`and c.active_turn_id is null and not ${waiting}`;
  }
}

export interface StartInput extends Pick<MessageInput, 'content' | 'measurements' | 'mode' | 'output'> {
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
