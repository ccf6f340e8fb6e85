import { DEFAULT_TENANT } from '../conversations/conversations.ts';
import type { Database, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { jsonText } from '../log/stored-text.ts';
import { redactSecrets } from '../../tools/runtime/redact-secrets.ts';
import { termsOf } from './memory-terms.ts';
import { memoryIsOfAnotherUser, ofAnotherUser } from './memory-users.ts';
import type { MemoryUser } from './memory-users.ts';

/** Who shares a memory: all conversations of an agent, of a user, or in a workspace. */
export interface MemoryScope {
  /** Default: `default`. */
  readonly tenant?: string;
  readonly scope: 'agent' | 'user' | 'workspace';
  /** Name of the agent or the user, or absolute path of the workspace. */
  readonly scopeName: string;
}

/** `summary`: a whole summary of a conversation, flushed by its preset. */
export type MemoryKind = 'fact' | 'preference' | 'decision' | 'summary';

export interface MemoryToInsert extends MemoryScope {
  /** UUID; inserting the same id again, for a tenant, changes nothing. */
  readonly id: string;
  readonly kind: MemoryKind;
  readonly text: string;
  /** Whose words it rests on. What the user did not say is shown as data and never is an instruction. */
  readonly origin: 'user' | 'model';
  /** Where it was learned; absent when it was written by hand. */
  readonly conversationId?: string;
  /** The entry that says it, or the compaction that it is the summary of; needs `conversationId`, whose it is. */
  readonly sourceId?: string;
  /** From 0 to 1. Default: 1. */
  readonly confidence?: number;
  /** ISO time from which on it is not in force. Default: never. */
  readonly expiresAt?: string;
  /** Memories of the same scope whose place it takes; of one that is over, the place of what took its own. */
  readonly supersedes?: readonly string[];
  /** For whom it is stated: what another user said is not superseded. Default: all is, as by hand. */
  readonly statedFor?: MemoryUser;
}

/** A memory was named that is over: what had taken its place is superseded instead. */
export interface SupersededInstead {
  readonly named: string;
  readonly instead: string;
}

export interface StoredMemory extends MemoryScope {
  readonly id: string;
  readonly kind: MemoryKind;
  readonly text: string;
  readonly origin: 'user' | 'model';
  readonly conversationId: string | null;
  readonly user: string | null;
  readonly sourceId: string | null;
  readonly confidence: number;
  readonly supersededBy: string | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
}

/**
 * Stores a memory and marks those that it supersedes; `false` when its id was stored before.
 * @throws StoreError `memory_not_found` when it supersedes what its scope does not have; `memory_of_another_user`
 */
export async function writeMemory(open: Transaction, memory: MemoryToInsert): Promise<boolean> {
  // Whatever wrote it: a memory is shown in conversations that never saw the secret (R28).
  const { text } = await redactSecrets(memory.text);
  const { count } = await open`
    insert into memories (id, tenant, scope, scope_name, kind, text, terms, origin, conversation_id, source_id, confidence, expires_at)
    values (${memory.id}, ${memory.tenant ?? DEFAULT_TENANT}, ${memory.scope}, ${memory.scopeName}, ${memory.kind}, ${jsonText(text)}::text::json,
      ${termsOf({ ...memory, text })}::text[], ${memory.origin}, ${memory.conversationId ?? null}, ${memory.sourceId ?? null},
      ${memory.confidence ?? 1}, ${memory.expiresAt ?? null})
    on conflict (id, tenant) do nothing`;
  if (count > 0) await supersede(open, memory);
  return count > 0;
}

/**
 * States a memory again that is in force: it takes the place of others, and is of the kind, and counts for as long and as much, as is
 * said now. Said by the user it is his from now on, with this source, and outlives the conversation that it was learned in first. Said by anyone else
 * it keeps its source: who states it again may have it from there. Where it has none, its own conversation gives it one; another does
 * not, for it goes with the one that it was learned in.
 * `false` when it was forgotten or superseded meanwhile.
 * @throws StoreError `memory_not_found` when it supersedes what its scope does not have; `memory_of_another_user`
 */
export async function renewMemory(open: Transaction, memory: Omit<MemoryToInsert, 'text'>): Promise<boolean> {
  const { count } = await open`
    update memories m set kind = case kind when 'summary' then kind else ${memory.kind} end,
      confidence = ${memory.confidence ?? 1}, expires_at = ${memory.expiresAt ?? null}
      ${
        memory.origin === 'user'
          ? open`, origin = 'user', conversation_id = ${memory.conversationId ?? null}, source_id = ${memory.sourceId ?? null}`
          : open`, source_id = coalesce(
              m.source_id, case when m.conversation_id = ${memory.conversationId ?? null} then ${memory.sourceId ?? null}::uuid end)`
      }
    where id = ${memory.id} and ${memoryIsOfScopes(open, [memory])} and superseded_by is null`;
  if (count > 0) await supersede(open, memory);
  return count > 0;
}

/**
 * Until the transaction ends nobody else states a memory of the scope again or supersedes one: of two that do so at once, the
 * second sees what the first wrote.
 */
export async function lockMemories(
  open: Transaction,
  { tenant = DEFAULT_TENANT, scope, scopeName }: MemoryScope,
): Promise<void> {
  const key = JSON.stringify(['memories', tenant, scope, scopeName]);
  await open`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}

/** Of a memory that is over already, what stands at the end in its place is superseded: two never are in force for one. */
async function supersede(
  open: Transaction,
  { id, supersedes = [], statedFor, ...own }: Omit<MemoryToInsert, 'text'>,
): Promise<void> {
  // The model may name the very memory that it states again.
  const others = supersedes.filter((each) => each !== id);
  if (others.length > 0) await lockMemories(open, own);
  const isOfTenant = open`m.tenant = ${own.tenant ?? DEFAULT_TENANT}`;
  for (const older of others) {
    const isOfAnother = statedFor === undefined ? open`false` : memoryIsOfAnotherUser(open, statedFor);
    const successors = isId(older)
      ? await open<{ isOfAnother: boolean }[]>`
          with recursive successors as (
            select m.id, m.superseded_by from memories m
            where m.id = ${older} and ${memoryIsOfScopes(open, [own])}
            union
            select m.id, m.superseded_by from successors s join memories m on m.id = s.superseded_by and ${isOfTenant}),
          superseded as (
            update memories m set superseded_by = ${id}
            from successors s where m.id = s.id and ${isOfTenant} and s.superseded_by is null and m.id <> ${id})
          select s.superseded_by is null and m.id <> ${id} and ${isOfAnother} as is_of_another
          from successors s join memories m on m.id = s.id and ${isOfTenant}`
      : [];
    if (successors.length === 0) {
      throw new StoreError('memory_not_found', `${own.scope} "${own.scopeName}" has no memory ${older}`);
    }
    if (successors.some(({ isOfAnother: isRefused }) => isRefused)) throw ofAnotherUser(older);
  }
}

/**
 * Which of the memories that one was to supersede were over before, and what it took the place of instead. Read from what is
 * stored, so that a repeated call is told the same.
 */
export async function findSupersededInstead(
  sql: Queries,
  { id, tenant = DEFAULT_TENANT, supersedes = [] }: Pick<MemoryToInsert, 'id' | 'tenant' | 'supersedes'>,
): Promise<SupersededInstead[]> {
  const named = supersedes.filter(isId);
  if (named.length === 0) return [];
  return sql<SupersededInstead[]>`
    with recursive successors as (
      select m.id as named, m.id, m.superseded_by from memories m where m.id = any(${named}::uuid[]) and m.tenant = ${tenant}
      union
      select s.named, m.id, m.superseded_by from successors s join memories m on m.id = s.superseded_by and m.tenant = ${tenant} and m.id <> ${id})
    select s.named, s.id as instead from successors s
    where s.superseded_by = ${id} and s.id <> all(${named}::uuid[])
    order by array_position(${named}::uuid[], s.named)`;
}

/**
 * Removes a memory and those whose place it had taken, so that forgetting never revives an older
 * one; `false` when the scopes have no such memory.
 * @param user who has it forgotten. Default: the operator
 * @throws StoreError `memory_of_another_user`
 */
export async function forgetMemory(
  sql: Queries,
  scopes: readonly MemoryScope[],
  id: string,
  user?: MemoryUser,
): Promise<boolean> {
  if (!isId(id)) return false;
  const found = sql`from memories m where m.id = ${id} and ${memoryIsOfScopes(sql, scopes)}`;
  const isOfAnother = user === undefined ? sql`false` : memoryIsOfAnotherUser(sql, user);
  const { count } = await sql`delete ${found} and not ${isOfAnother}`;
  if (count === 0 && (await sql`select ${found}`).length > 0) throw ofAnotherUser(id);
  return count > 0;
}

/** A `StoredMemory` of `memories m`. */
export function memoryColumns(sql: Queries) {
  return sql`m.id, m.scope, m.scope_name, m.kind, m.text, m.origin, m.conversation_id,
    (select c.user_name from conversations c where c.id = m.conversation_id) as user, m.source_id, m.confidence,
    m.superseded_by, iso_time(m.expires_at) as "expiresAt", iso_time(m.created_at) as "createdAt"`;
}

export async function findMemoriesInForce(
  sql: Queries,
  scopes: readonly MemoryScope[],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    select m.id from memories m where m.id = any(${[...ids]}::uuid[]) and ${memoryIsOfScopes(sql, scopes)} and ${memoryIsInForce(sql)}`;
  return new Set(rows.map(({ id }) => id));
}

/** The conversation in which a memory of these scopes that is in force was learned from this entry; `null` when none was. */
export async function findSourceConversation(
  sql: Queries,
  { scopes, sourceId }: { readonly scopes: readonly MemoryScope[]; readonly sourceId: string },
): Promise<string | null> {
  if (!isId(sourceId) || scopes.length === 0) return null;
  const [row] = await sql<{ conversationId: string }[]>`
    select m.conversation_id from memories m
    where m.source_id = ${sourceId} and m.conversation_id is not null and ${memoryIsOfScopes(sql, scopes)} and ${memoryIsInForce(sql)}
    limit 1`;
  return row?.conversationId ?? null;
}

/** Condition on `memories m`. */
export function memoryIsOfScopes(sql: Queries, scopes: readonly MemoryScope[]) {
  return sql`(m.tenant, m.scope, m.scope_name) in (select * from unnest(
    ${scopes.map(({ tenant }) => tenant ?? DEFAULT_TENANT)}::text[], ${scopes.map(({ scope }) => scope)}::text[],
    ${scopes.map(({ scopeName }) => scopeName)}::text[]))`;
}

export function memoryIsInForce(sql: Queries) {
  return sql`m.superseded_by is null and (m.expires_at is null or m.expires_at > holdfast_now())`;
}

/** Seconds that a memory stays after it expired: a clock that is wrong by hours ends none for good. */
const KEPT_SECONDS = 86_400;
const DELETED_AT_ONCE = 1_000;

/**
 * Deletes memories that expired more than a day ago, with those whose place they had taken: they were to be kept until then. The
 * entries that they were taken from stay.
 *
 * @returns whether all such are gone now, or there may be more
 */
export async function deleteExpiredMemories(
  sql: Database,
): Promise<{ readonly deleted: number; readonly isAll: boolean }> {
  const isExpired = sql`expires_at < holdfast_now() - make_interval(secs => ${KEPT_SECONDS})`;
  const expired = await sql<{ id: string }[]>`
    select id from memories where ${isExpired} order by expires_at limit ${DELETED_AT_ONCE}`;
  if (expired.length === 0) return { deleted: 0, isAll: true };
  // One that was stated again meanwhile is kept.
  const { count: deleted } = await sql`
    delete from memories where id = any(${expired.map(({ id }) => id)}::uuid[]) and ${isExpired}`;
  return { deleted, isAll: expired.length < DELETED_AT_ONCE };
}

export async function listMemoriesOf(
  sql: Queries,
  request: {
    readonly tenant: string;
    readonly scope?: MemoryScope['scope'];
    readonly name?: string;
    /** Also those that were superseded or have expired. Default: false. */
    readonly all?: boolean;
    /** Id of the last memory of the page before. */
    readonly beforeId?: string;
    readonly limit: number;
  },
): Promise<StoredMemory[]> {
  const { tenant, scope, name, all, beforeId, limit } = request;
  if (beforeId !== undefined && !isId(beforeId)) return [];
  const isEarlier =
    beforeId === undefined
      ? sql``
      : sql`and (m.created_at, m.id) < (
          select b.created_at, b.id from memories b where b.tenant = ${tenant} and b.id = ${beforeId})`;
  return sql<StoredMemory[]>`
    select ${memoryColumns(sql)} from memories m
    where m.tenant = ${tenant} ${scope === undefined ? sql`` : sql`and m.scope = ${scope}`}
      ${name === undefined ? sql`` : sql`and m.scope_name = ${name}`}
      ${all === true ? sql`` : sql`and ${memoryIsInForce(sql)}`} ${isEarlier}
    order by m.created_at desc, m.id desc limit ${limit}`;
}

export async function deleteMemory(
  sql: Queries,
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<boolean> {
  if (!isId(id)) return false;
  const { count } = await sql`delete from memories where tenant = ${tenant} and id = ${id}`;
  return count > 0;
}
