import { createHash } from 'node:crypto';
import postgres from 'postgres';
import { attemptColumn, isReplaced, isUpTo, replacedAttempt } from '../attempts/activity-attempts.ts';
import type { ActivityAttempt } from '../attempts/activity-attempts.ts';
import type { Database, Fragment, Transaction } from '../database/database.ts';
import { newId } from '../database/ids.ts';
import { readPause } from './provider-pauses.ts';

/** Seconds after which the permit of a worker that renews nothing is free. */
export const LEASE_SECONDS = 30;
/** Seconds since it last asked in which a waiting call counts: it asks every two, and a busy machine is late. */
const PRESENT_SECONDS = 10;

/** How much a provider is asked at once; `null`: no limit of ours. */
export interface ProviderCapacity {
  readonly concurrentCalls: number | null;
  readonly tokensPerMinute: number | null;
}

export interface PermitRequest {
  readonly providerKey: string;
  /** Names the call; the same for every attempt. */
  readonly callKey: string;
  readonly by: ActivityAttempt;
  readonly conversationId: string;
  readonly tokens: number;
  /** Seconds for which a permit is given before it must be renewed. Default: `LEASE_SECONDS`. */
  readonly leaseSeconds?: number;
}

export type HeldPermit = Pick<PermitRequest, 'callKey' | 'by' | 'leaseSeconds'>;

export type PermitAnswer =
  | { readonly kind: 'granted' }
  /** The provider wants no calls for so long. */
  | { readonly kind: 'paused'; readonly milliseconds: number }
  | { readonly kind: 'queued'; readonly place: number };

/**
 * The same for all workers that use a server with the same key; tells nothing of the key. A key that is read in use may
 * change, so the provider's name stands for it.
 */
export function providerKeyOf(provider: {
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly hosting?: object;
}): string {
  const { name, baseUrl, apiKey, hosting = null } = provider;
  const parts = JSON.stringify([baseUrl, apiKey ?? { name }, hosting]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}

/**
 * Asks for a permit. A call takes one itself when it asks, once fewer calls than there are free permits stand before it.
 * @throws StoreError `superseded_attempt` (a later attempt has asked for the call)
 */
export async function claimPermit(
  sql: Database,
  request: PermitRequest,
  capacity: ProviderCapacity,
): Promise<PermitAnswer> {
  await enqueue(sql, request);
  const milliseconds = await readPause(sql, request.providerKey);
  if (milliseconds > 0) return { kind: 'paused', milliseconds };
  for (;;) {
    try {
      return await claim(sql, request, capacity);
    } catch (error) {
      if (!isOtherGrant(error)) throw error;
    }
  }
}

/** Another call was granted a permit since this one counted them. */
function isOtherGrant(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.constraint_name === 'provider_calls_in_order';
}

/**
 * A permit of an earlier attempt, whose worker may be dead, is free, and the call keeps its turn in the queue. What that
 * attempt may have sent counts for its minute all the same, under another key.
 */
async function enqueue(sql: Database, request: PermitRequest): Promise<void> {
  const { providerKey, callKey, by, conversationId, tokens } = request;
  const { count } = await sql`
    with before as (
      update provider_calls q
      set call_key = q.call_key || ':' || q.id, released_at = coalesce(q.released_at, holdfast_now())
      where q.call_key = ${callKey} and q.granted_at is not null and not ${isReplaced(sql, sql`q.asked_by`, by)}
      returning least(q.requested_at, holdfast_now()) as turn)
    insert into provider_calls as mine (id, provider_key, conversation_id, call_key, asked_by, tokens, requested_at)
    values (${newId()}, ${providerKey}, ${conversationId}, ${callKey}, ${attemptColumn(sql, by)}, ${Math.ceil(tokens)},
      coalesce((select turn from before), holdfast_now()))
    on conflict (call_key) do update set provider_key = excluded.provider_key, seen_at = holdfast_now(),
      asked_by = excluded.asked_by, tokens = excluded.tokens
    where not ${isReplaced(sql, sql`mine.asked_by`, by)}`;
  if (count === 0) throw replacedAttempt(`call ${callKey}`, by);
}

/** Whether a permit counts; a lease of a clock that jumped back since does not. */
function isUnderWay(sql: Database): Fragment {
  return sql`released_at is null and lease_until > holdfast_now()
    and lease_until < holdfast_now() + make_interval(secs => ${2 * LEASE_SECONDS})`;
}

/**
 * The n-th call of a conversation, those under way counted, stands beside the n-th of every other; of them the conversation
 * goes first whose last permit is longest ago. A call that is larger than a whole minute goes alone, or it would wait for
 * ever; smaller ones behind do not pass it.
 *
 * No lock orders the calls of a provider. Of two that count the same permits, both take the number after the newest, which is unique.
 */
async function claim(
  sql: Database,
  { providerKey, callKey, by, leaseSeconds = LEASE_SECONDS }: PermitRequest,
  { concurrentCalls, tokensPerMinute }: ProviderCapacity,
): Promise<PermitAnswer> {
  const [row] = await sql<{ place: number; granted: boolean }[]>`
    with served as (
      select conversation_id, max(granted_at) filter (where granted_at <= holdfast_now()) as last,
        count(*) filter (where ${isUnderWay(sql)}) as running, max(grant_number) as grant_number,
        coalesce(sum(tokens) filter (
          where granted_at between holdfast_now() - interval '1 minute' and holdfast_now()), 0) as tokens
      from provider_calls where provider_key = ${providerKey} and granted_at is not null group by conversation_id),
    used as (
      select coalesce(sum(running), 0) as calls, coalesce(sum(tokens), 0) as tokens,
        coalesce(max(grant_number), 0) as grant_number
      from served),
    present as (
      select q.call_key, q.tokens, q.requested_at, q.id, s.last, coalesce(s.running, 0) + row_number() over (
        partition by q.conversation_id order by q.requested_at, q.id) as round
      from provider_calls q left join served s using (conversation_id)
      where q.provider_key = ${providerKey} and q.granted_at is null
        and q.seen_at between holdfast_now() - make_interval(secs => ${PRESENT_SECONDS}) and holdfast_now()),
    queue as (
      select call_key, row_number() over fair as place, sum(tokens) over fair as tokens from present
      window fair as (order by round, last nulls first, requested_at, id)),
    granted as (
      update provider_calls c set granted_at = holdfast_now(), grant_number = used.grant_number + 1,
        lease_until = holdfast_now() + make_interval(secs => ${leaseSeconds})
      from queue, used where c.call_key = ${callKey} and queue.call_key = c.call_key
        and c.asked_by = ${attemptColumn(sql, by)} and c.granted_at is null
        and used.calls + queue.place <= coalesce(${concurrentCalls}, used.calls + queue.place)
        and (used.tokens + queue.tokens <= coalesce(${tokensPerMinute}, used.tokens + queue.tokens)
          or used.tokens = 0 and queue.place = 1)
      returning c.id),
    -- With a grant, so that the newest number is always there.
    forgotten as (
      delete from provider_calls where id in (
        select old.id from provider_calls old
        where old.provider_key = ${providerKey} and exists (select from granted)
          and (old.released_at < holdfast_now() - interval '1 minute'
            or old.lease_until < holdfast_now() - interval '1 minute'
            or old.seen_at < holdfast_now() - interval '1 hour')
        for update skip locked))
    select place::int, exists (select from granted) as granted from queue where call_key = ${callKey}`;
  return row?.granted === true ? { kind: 'granted' } : { kind: 'queued', place: row?.place ?? 1 };
}

/**
 * The call is still under way. One that was frozen for longer than its lease counts again, whoever was given its permit
 * meanwhile; one that another attempt has asked for does not.
 */
export async function renewPermit(sql: Database, held: HeldPermit): Promise<void> {
  const { leaseSeconds = LEASE_SECONDS } = held;
  await sql`
    update provider_calls set lease_until = holdfast_now() + make_interval(secs => ${leaseSeconds})
    where ${isHeld(sql, held)}`;
}

/**
 * The call is over: its permit is free, its tokens count for the rest of the minute. What another attempt holds stays.
 * @param reported input tokens that the provider counted; `null`: the estimate stands
 */
export async function releasePermit(sql: Database, held: HeldPermit, reported: number | null = null): Promise<void> {
  await sql`
    update provider_calls set released_at = holdfast_now(), tokens = coalesce(${reported}, tokens)
    where ${isHeld(sql, held)}`;
}

function isHeld(sql: Database, { callKey, by }: HeldPermit): Fragment {
  return sql`call_key = ${callKey} and asked_by = ${attemptColumn(sql, by)} and granted_at is not null
    and released_at is null`;
}

/** The call will not be made: nothing is kept that this attempt, or one before it whose worker is gone, has asked for. */
export async function giveUpPermit(sql: Database, { callKey, by }: HeldPermit): Promise<void> {
  await release(sql, sql`call_key = ${callKey} and ${isUpTo(sql, sql`asked_by`, by)}`);
}

async function release(sql: Database | Transaction, mine: Fragment): Promise<void> {
  await sql`delete from provider_calls where ${mine} and granted_at is null`;
  await sql`
    update provider_calls set released_at = holdfast_now()
    where ${mine} and granted_at is not null and released_at is null`;
}

/** The turn has ended: nothing is kept for what it waited for, and the permits that it had are free. */
export async function releaseAllPermits(sql: Transaction, conversationId: string): Promise<void> {
  await release(sql, sql`conversation_id = ${conversationId}`);
}
