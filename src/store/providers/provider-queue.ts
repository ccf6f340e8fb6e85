import { createHash } from 'node:crypto';
import { attemptColumn, isReplaced, isUpTo } from '../attempts/activity-attempts.ts';
import type { ActivityAttempt } from '../attempts/activity-attempts.ts';
import type { Database, Fragment, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { newId } from '../database/ids.ts';
import { readPause } from './provider-pauses.ts';
import { transaction } from '../database/transaction.ts';

/** Seconds after which the place of a worker that renews nothing is free. */
export const LEASE_SECONDS = 30;
/** Seconds for which a waiting call stays away at most before it asks again. */
export const LONGEST_ABSENCE_SECONDS = 5;
/**
 * Seconds since it last asked in which a waiting call counts as there. Three absences: one is its wait in the workflow, the
 * others are for what comes on top on a busy machine, the timer of Temporal, a free slot of a worker and reading the view. A
 * call that counts as gone is passed over by younger ones; one that is gone holds a place no longer than its lease.
 */
const PRESENT_SECONDS = 3 * LONGEST_ABSENCE_SECONDS;
/** Waiting calls that are looked at for free places at a time. */
const LOOKED_AT = 100;
/** So many calls for each that may run have their turn soon: when places get free, some of them are there. At most eight, which wait in slots of workers. */
const NEXT_OF_EACH = 2;
const MOST_NEXT = 8;

/** How much a provider is asked at once; `null`: no limit of ours. */
export interface ProviderCapacity {
  readonly concurrentCalls: number | null;
  readonly tokensPerMinute: number | null;
}

export interface QueuedCall {
  readonly providerKey: string;
  /** Names the call; asked again, it keeps its place. */
  readonly callKey: string;
  /** Id of the attempt that asks: takes the place over from the one before. */
  readonly holder: string;
  /** The same attempt as Temporal names it: it takes nothing over from a later one. */
  readonly by: ActivityAttempt;
  /** The holder has asked before: it takes nothing back from whoever asked since. */
  readonly again?: boolean;
  readonly conversationId: string;
  /** Estimated input. */
  readonly tokens: number;
  /** Seconds for which a place is given before it must be renewed. Default: `LEASE_SECONDS`. */
  readonly leaseSeconds?: number;
}

/** A place as the attempt knows it that asked for it. */
export type HeldPlace = Pick<QueuedCall, 'callKey' | 'holder' | 'leaseSeconds'>;

export type QueuePlace =
  | { readonly kind: 'granted' }
  /** The provider wants no calls for so long. */
  | { readonly kind: 'paused'; readonly milliseconds: number }
  /** Others are first; `waiting` counts all that wait. `isNext`: few of them are. */
  | { readonly kind: 'queued'; readonly waiting: number; readonly isNext: boolean };

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
 * Asks for a place. Whoever asks hands out all that are free: to the conversation with the fewest calls under way first,
 * so that two hundred calls of one conversation delay another's by the one that gets the next place, not by all.
 * @throws StoreError `superseded_attempt` (another attempt asks for the call by now)
 */
export async function askForPlace(sql: Database, call: QueuedCall, capacity: ProviderCapacity): Promise<QueuePlace> {
  const { providerKey, callKey, leaseSeconds = LEASE_SECONDS } = call;
  return transaction(sql, async (open): Promise<QueuePlace> => {
    await lockPlaces(open, providerKey);
    await requireNewest(open, call);
    const milliseconds = await readPause(open, providerKey);
    await enqueue(open, call, milliseconds > 0);
    if (milliseconds > 0) return { kind: 'paused', milliseconds };
    const waiting = await handOut(open, providerKey, { ...capacity, leaseSeconds });
    // Seen behind the moment it was granted, a place tells that whoever has it knows, and may have sent its request.
    const [row] = await open<{ granted: boolean; waiting: number }[]>`
      with told as (
        update provider_calls set seen_at = holdfast_now() where call_key = ${callKey} and granted_at is not null returning id)
      select exists (select from told) as granted,
        (select count(*) from provider_calls where provider_key = ${providerKey} and granted_at is null)::int as waiting`;
    if (row?.granted === true) return { kind: 'granted' };
    const next = Math.min(MOST_NEXT, NEXT_OF_EACH * (capacity.concurrentCalls ?? MOST_NEXT));
    const isNext = waiting.slice(0, next).some((one) => one.callKey === callKey);
    return { kind: 'queued', waiting: row?.waiting ?? 0, isNext };
  });
}

/** Places of one provider are handed out by one at a time; a lock of the transaction needs no row. */
async function lockPlaces(sql: Transaction, providerKey: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`provider ${providerKey}`}, 0))`;
}

/**
 * A worker that was frozen, or that Temporal does not reach, asks on for what another one has by now: given to it, the place would
 * be given back while the other's call runs. Attempts of different activities have no order; of them the last that began to ask has it.
 */
async function requireNewest(sql: Transaction, { callKey, holder, by, again = false }: QueuedCall): Promise<void> {
  const [row] = await sql<{ replaced: boolean }[]>`
    select ${isReplaced(sql, sql`asked_by`, by)} or (${again} and holder is distinct from ${holder}) as replaced
    from provider_calls where call_key = ${callKey}`;
  if (row?.replaced !== true) return;
  const message = `call ${callKey} was taken over by another attempt, which asks for its place; this is attempt ${by.attempt}`;
  throw new StoreError('superseded_attempt', message);
}

/**
 * The row of an earlier try, whose worker may be dead, gives its place back, and this one has its turn in the queue; a call that
 * goes elsewhere keeps none here. What an earlier try may have sent counts for its minute all the same, under another key. A
 * place that nobody was told of stays, unless it is another's by now: its lease is over, or the provider wants no calls.
 */
async function enqueue(sql: Transaction, call: QueuedCall, isPaused: boolean): Promise<void> {
  const { providerKey, callKey, holder, by, conversationId, tokens, leaseSeconds = LEASE_SECONDS } = call;
  await sql`
    delete from provider_calls where (call_key = ${callKey} and released_at is null and provider_key <> ${providerKey})
      or (provider_key = ${providerKey}
        and (released_at < holdfast_now() - interval '1 minute' or lease_until < holdfast_now() - interval '1 minute'
          or seen_at < holdfast_now() - interval '1 hour'))`;
  // As text: a date of JavaScript has no microseconds, by which a turn in the queue may be decided.
  const [before] = await sql<{ turn: string | null }[]>`
    update provider_calls as over set call_key = over.call_key || ':' || over.id,
      released_at = coalesce(over.released_at, holdfast_now())
    from provider_calls as old
    where old.id = over.id and over.call_key = ${callKey} and (over.released_at is not null or over.seen_at >= over.granted_at)
    returning case when old.released_at is null then least(old.requested_at, holdfast_now()) end::text as turn`;
  const keeps = sql`not ${isPaused}::boolean and ${isUnderWay(sql, sql`mine`)}`;
  await sql`
    insert into provider_calls as mine (id, provider_key, conversation_id, call_key, holder, asked_by, tokens, requested_at)
    values (${newId()}, ${providerKey}, ${conversationId}, ${callKey}, ${holder}, ${attemptColumn(sql, by)}, ${Math.ceil(tokens)},
      coalesce(${before?.turn ?? null}::text::timestamptz, holdfast_now()))
    on conflict (call_key) do update set seen_at = holdfast_now(), holder = excluded.holder, asked_by = excluded.asked_by,
      tokens = excluded.tokens, granted_at = case when ${keeps} then mine.granted_at end,
      lease_until = case when ${keeps} then holdfast_now() + make_interval(secs => ${leaseSeconds}) end`;
}

/** Who is there renews a lease of a clock that jumped back since. */
function isUnderWay(sql: Transaction, row = sql`provider_calls`) {
  return sql`${row}.released_at is null and ${row}.lease_until > holdfast_now()
    and ${row}.lease_until < holdfast_now() + make_interval(secs => ${2 * LEASE_SECONDS})`;
}

/** @returns calls that wait on, those first that have their turn first. */
async function handOut(
  sql: Transaction,
  providerKey: string,
  capacity: ProviderCapacity & Required<Pick<QueuedCall, 'leaseSeconds'>>,
): Promise<readonly WaitingCall[]> {
  const [now] = await sql<{ running: number; tokens: number }[]>`
    select (count(*) filter (where ${isUnderWay(sql)}))::int as running,
      coalesce(sum(tokens) filter (
        where granted_at between holdfast_now() - interval '1 minute' and holdfast_now()), 0)::float8 as tokens
    from provider_calls where provider_key = ${providerKey} and granted_at is not null`;
  let running = now?.running ?? 0;
  let tokens = now?.tokens ?? 0;
  const waiting = await fairOrder(sql, providerKey);
  const granted = new Set<string>();
  // One that is away far from its turn is passed over: its place would lie idle until it comes back.
  for (const next of waiting.filter(({ isThere }) => isThere)) {
    if (capacity.concurrentCalls !== null && running >= capacity.concurrentCalls) break;
    // One that is larger than a whole minute goes alone, or it would wait for ever. Smaller ones behind do not pass it.
    const fits = capacity.tokensPerMinute === null || tokens === 0 || tokens + next.tokens <= capacity.tokensPerMinute;
    if (!fits) break;
    await sql`
      update provider_calls set granted_at = holdfast_now(),
        lease_until = holdfast_now() + make_interval(secs => ${capacity.leaseSeconds}) where id = ${next.id}`;
    granted.add(next.id);
    running += 1;
    tokens += next.tokens;
  }
  return waiting.filter(({ id }) => !granted.has(id));
}

interface WaitingCall {
  readonly id: string;
  readonly callKey: string;
  readonly tokens: number;
  readonly isThere: boolean;
}

/**
 * The n-th call of a conversation, those under way counted, stands beside the n-th of every other; of them the conversation
 * goes first whose last place is longest ago.
 */
async function fairOrder(sql: Transaction, providerKey: string): Promise<readonly WaitingCall[]> {
  return sql<WaitingCall[]>`
    with served as (
      select conversation_id, max(granted_at) filter (where granted_at <= holdfast_now()) as last,
        count(*) filter (where ${isUnderWay(sql)}) as running
      from provider_calls where provider_key = ${providerKey} and granted_at is not null group by conversation_id)
    select q.id, q.call_key as "callKey", q.tokens::float8, q.holder is not null as "isThere"
    from provider_calls q left join served s using (conversation_id)
    where q.provider_key = ${providerKey} and q.granted_at is null
      and q.seen_at between holdfast_now() - make_interval(secs => ${PRESENT_SECONDS}) and holdfast_now()
    order by coalesce(s.running, 0) + row_number() over (partition by q.conversation_id order by q.requested_at, q.id),
      s.last nulls first, q.requested_at, q.id
    limit ${LOOKED_AT}`;
}

/**
 * The call waits in its workflow, far from its turn: until it asks again, places go to others.
 * @returns `false`: it has been given one meanwhile.
 */
export async function stepAside(sql: Database, { callKey, holder }: HeldPlace): Promise<boolean> {
  const { count } = await sql`
    update provider_calls set holder = null
    where call_key = ${callKey} and holder = ${holder} and granted_at is null`;
  return count > 0;
}

/**
 * The call is still under way. One that was frozen for longer than its lease counts again, whoever was given its place meanwhile:
 * until one of them is over, nobody else gets one. One that another attempt has asked for does not: that attempt ends it.
 */
export async function renewPlace(
  sql: Database,
  { callKey, holder, leaseSeconds = LEASE_SECONDS }: HeldPlace,
): Promise<void> {
  await sql`
    update provider_calls set lease_until = holdfast_now() + make_interval(secs => ${leaseSeconds})
    where call_key = ${callKey} and holder = ${holder} and granted_at is not null and released_at is null`;
}

/** The call will not be made: nobody keeps a place for it. What another attempt has by now stays. */
export async function leaveQueue(sql: Database, { callKey, holder }: HeldPlace): Promise<void> {
  await leave(sql, sql`call_key = ${callKey} and holder = ${holder}`);
}

/**
 * The same for what this attempt of an activity, or one before it whose worker is gone, asked for and does not hold any more: it
 * stepped aside, or has died.
 */
export async function giveUpPlace(sql: Database, { callKey, by }: Pick<QueuedCall, 'callKey' | 'by'>): Promise<void> {
  await leave(sql, sql`call_key = ${callKey} and ${isUpTo(sql, sql`asked_by`, by)}`);
}

async function leave(sql: Database, mine: Fragment): Promise<void> {
  await sql`delete from provider_calls where ${mine} and granted_at is null`;
  await sql`
    update provider_calls set released_at = holdfast_now()
    where ${mine} and granted_at is not null and released_at is null`;
}

/**
 * The call is over: its place is free, its tokens count for the rest of the minute. What another attempt holds by now stays.
 * @param reported input tokens that the provider counted; `null`: the estimate stands
 */
export async function releasePlace(
  sql: Database,
  { callKey, holder }: HeldPlace,
  reported: number | null = null,
): Promise<void> {
  await sql`
    update provider_calls set released_at = holdfast_now(), tokens = coalesce(${reported}, tokens)
    where call_key = ${callKey} and holder = ${holder} and granted_at is not null and released_at is null`;
}

/** The turn has ended: no place is kept for what it waited for, and those that it was given are free. */
export async function leaveAllQueues(sql: Transaction, conversationId: string): Promise<void> {
  const keys = await sql<{ key: string }[]>`
    select distinct provider_key as key from provider_calls
    where conversation_id = ${conversationId} and released_at is null order by 1`;
  if (keys.length === 0) return;
  // As whoever hands out places: else each might wait for rows of the other.
  for (const { key } of keys) await lockPlaces(sql, key);
  await sql`delete from provider_calls where conversation_id = ${conversationId} and granted_at is null`;
  await sql`
    update provider_calls set released_at = holdfast_now()
    where conversation_id = ${conversationId} and granted_at is not null and released_at is null`;
}
