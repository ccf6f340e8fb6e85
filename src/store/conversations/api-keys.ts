import type { Database, Queries } from '../database/database.ts';
import { isId, newId } from '../database/ids.ts';

/** What a key may do: read; start, send and steer; decide for people; everything, deletion included. */
export const SCOPES = ['read', 'write', 'decide', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** What the holder of a key may use; `null`: no limit of its own. */
export interface KeyLimits {
  /** Requests of any kind. */
  readonly requestsPerMinute: number | null;
  /** Turns of the tenant that may be open when it starts or sends. */
  readonly openTurns: number | null;
  /** Dollars of the tenant in 24 hours. */
  readonly costPerDay: number | null;
}

/** A key of the HTTP API, without the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** To the minute. */
  readonly lastUsedAt: string | null;
}

function keyColumns(sql: Queries) {
  return sql`id, tenant, name, scopes, json_build_object('requestsPerMinute', requests_per_minute, 'openTurns', open_turns,
    'costPerDay', cost_per_day) as limits, iso_time(created_at) as "createdAt", iso_time(expires_at) as "expiresAt",
    iso_time(revoked_at) as "revokedAt", iso_time(last_used_at) as "lastUsedAt"`;
}

export type KeyToMake = Pick<ApiKey, 'tenant' | 'name' | 'scopes' | 'limits' | 'expiresAt'>;

/** @param hash SHA-256 of the key */
export async function insertApiKey(sql: Database, hash: Uint8Array, key: KeyToMake): Promise<ApiKey> {
  const { requestsPerMinute, openTurns, costPerDay } = key.limits;
  const [row] = await sql<ApiKey[]>`
    insert into api_keys (id, hash, tenant, name, scopes, requests_per_minute, open_turns, cost_per_day, expires_at)
    values (${newId()}, ${hash}, ${key.tenant}, ${key.name}, ${[...key.scopes]}::text[], ${requestsPerMinute}, ${openTurns},
      ${costPerDay}, ${key.expiresAt})
    returning ${keyColumns(sql)}`;
  if (row === undefined) throw new TypeError('an insert returns its row');
  return row;
}

export async function findApiKey(sql: Database, hash: Uint8Array): Promise<ApiKey | null> {
  const [row] = await sql<(ApiKey & { readonly isUseNoted: boolean })[]>`
    select ${keyColumns(sql)}, coalesce(last_used_at > holdfast_now() - interval '1 minute', false) as is_use_noted
    from api_keys
    where hash = ${hash} and revoked_at is null and (expires_at is null or expires_at > holdfast_now())`;
  if (row === undefined) return null;
  const { isUseNoted: isNoted, ...key } = row;
  if (!isNoted) await sql`update api_keys set last_used_at = holdfast_now() where id = ${key.id}`;
  return key;
}

export async function listKeysInForce(sql: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from api_keys
    where id = any(${[...ids]}::uuid[]) and revoked_at is null and (expires_at is null or expires_at > holdfast_now())`;
  return new Set(rows.map(({ id }) => id));
}

export async function listApiKeys(sql: Database): Promise<ApiKey[]> {
  return sql<ApiKey[]>`select ${keyColumns(sql)} from api_keys order by created_at desc, id desc`;
}

export async function revokeApiKey(sql: Database, id: string): Promise<boolean> {
  const { count } = await sql`
    update api_keys set revoked_at = coalesce(revoked_at, holdfast_now()) where id::text = ${id}`;
  return count > 0;
}

interface TenantUse {
  /** Whether the conversation, or among starts the tenant, has what was sent with this idempotency key. */
  readonly isSent: boolean;
  /** Whether the conversation has a turn that is open, or about to begin. */
  readonly isOpen: boolean;
  /** Such turns of all other conversations. */
  readonly otherTurns: number;
  /** Dollars that model calls of the last 24 hours cost, as far as is known. */
  readonly costOfDay: number;
  /** Until the oldest of that cost is a day old. */
  readonly secondsUntilLess: number;
}

/** What is no id is no conversation, and what is no text no key. */
export async function readTenantUse(
  sql: Queries,
  tenant: string,
  { conversationId, idempotencyKey }: { readonly conversationId?: unknown; readonly idempotencyKey?: unknown },
): Promise<TenantUse> {
  const own = typeof conversationId === 'string' && isId(conversationId) ? conversationId : null;
  const key = typeof idempotencyKey === 'string' && !idempotencyKey.includes('\0') ? idempotencyKey : null;
  const [row] = await sql<TenantUse[]>`
    with open_turns as (select c.id is not distinct from ${own}::uuid as own from conversations c
      where c.tenant = ${tenant} and (c.active_turn_id is not null or c.id in (
        select m.conversation_id from messages m where m.consumed_at is null and m.kind in ('message', 'resume')))),
    paid as (select m.cost, m.started_at from model_attempts m join conversations c on c.id = m.conversation_id
      where c.tenant = ${tenant} and m.cost > 0 and m.started_at > holdfast_now() - interval '1 day')
    select case when ${own}::uuid is null
        then exists (select from conversations where tenant = ${tenant} and start_key = ${key})
        else exists (select from messages m join conversations c on c.id = m.conversation_id
          where c.tenant = ${tenant} and m.conversation_id = ${own} and m.id = ${key}) end as "isSent",
      exists (select from open_turns where own) as "isOpen",
      (select count(*)::int from open_turns where not own) as "otherTurns",
      (select coalesce(sum(cost), 0)::float8 from paid) as "costOfDay",
      (select ceil(extract(epoch from coalesce(min(started_at), holdfast_now()) + interval '1 day' - holdfast_now()))::int
       from paid) as "secondsUntilLess"`;
  return row ?? { isSent: false, isOpen: false, otherTurns: 0, costOfDay: 0, secondsUntilLess: 0 };
}
