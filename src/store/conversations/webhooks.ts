import type { Database } from '../database/database.ts';
import { isId, newId } from '../database/ids.ts';

export const WEBHOOK_EVENTS = ['turn_ended', 'decision_requested', 'limit_near'] as const;

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export interface Webhook {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly createdAt: string;
}

export async function insertWebhook(
  sql: Database,
  {
    tenant,
    url,
    secret,
    events,
  }: Pick<Webhook, 'url' | 'events'> & { readonly tenant: string; readonly secret: string },
): Promise<Webhook> {
  const [row] = await sql<Webhook[]>`
    insert into webhooks (id, tenant, url, secret, events) values (${newId()}, ${tenant}, ${url}, ${secret}, ${[...events]}::text[])
    returning id as "webhookId", url, events, iso_time(created_at) as "createdAt"`;
  if (row === undefined) throw new TypeError('an insert returns its row');
  return row;
}

export async function listWebhooks(sql: Database, tenant: string): Promise<Webhook[]> {
  return sql<Webhook[]>`
    select id as "webhookId", url, events, iso_time(created_at) as "createdAt" from webhooks
    where tenant = ${tenant} order by created_at, id`;
}

/** What it was not yet told goes with it. @returns whether there was one */
export async function deleteWebhook(sql: Database, tenant: string, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const { count } = await sql`delete from webhooks where tenant = ${tenant} and id = ${id}`;
  return count > 0;
}

export interface FailedDelivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly conversationId: string;
  readonly event: WebhookEvent;
  readonly attempts: number;
  /** A status, or the code of an error. */
  readonly failure: string;
  readonly createdAt: string;
}

export async function listFailedDeliveries(
  sql: Database,
  { tenant, beforeId, limit }: { readonly tenant: string; readonly beforeId?: string; readonly limit: number },
): Promise<FailedDelivery[]> {
  if (beforeId !== undefined && !isId(beforeId)) return [];
  const isEarlier =
    beforeId === undefined
      ? sql``
      : sql`and (created_at, id) < (
          select b.created_at, b.id from webhook_deliveries b where b.tenant = ${tenant} and b.id = ${beforeId})`;
  return sql<FailedDelivery[]>`
    select id as "deliveryId", webhook_id, conversation_id, event, attempts,
      coalesce(failure, '') as failure, iso_time(created_at) as "createdAt"
    from webhook_deliveries where tenant = ${tenant} and due_at is null ${isEarlier}
    order by created_at desc, id desc limit ${limit}`;
}

/** Tries again, as often as at first. @returns whether it had been given up */
export async function retryDelivery(sql: Database, tenant: string, id: string): Promise<boolean> {
  if (!isId(id)) return false;
  const { count } = await sql`
    update webhook_deliveries set due_at = holdfast_now(), attempts = 0 where tenant = ${tenant} and id = ${id} and due_at is null`;
  return count > 0;
}

export interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly url: string;
  readonly secret: string;
  readonly body: string;
  readonly attempts: number;
}

/** Seconds before the second try, twice as long before each later one, up to the longest. */
const FIRST_PAUSE_SECONDS = 10;
const LONGEST_PAUSE_SECONDS = 21_600;

/**
 * Begins tries. Whoever begins one and dies leaves it to be tried again: a delivery is deleted by `endDelivery` alone.
 * @param busy webhooks whose deliveries wait
 */
export async function takeDueDeliveries(sql: Database, busy: readonly string[], limit: number): Promise<DueDelivery[]> {
  return sql<DueDelivery[]>`
    update webhook_deliveries d set attempts = d.attempts + 1, due_at = holdfast_now()
      + make_interval(secs => least(${FIRST_PAUSE_SECONDS} * 2.0 ^ least(d.attempts, 20), ${LONGEST_PAUSE_SECONDS})::float8)
    from webhooks w
    where w.id = d.webhook_id and d.id in (
      select id from webhook_deliveries where due_at <= holdfast_now() and webhook_id <> all(${[...busy]}::uuid[])
      order by due_at limit ${limit} for update skip locked)
    returning d.id, d.webhook_id, w.url, w.secret, d.body::text, d.attempts`;
}

export async function endDelivery(sql: Database, id: string): Promise<void> {
  await sql`delete from webhook_deliveries where id = ${id}`;
}

/** @param isLast it is given up */
export async function failDelivery(sql: Database, id: string, failure: string, isLast: boolean): Promise<void> {
  await sql`
    update webhook_deliveries set failure = ${failure}, due_at = case when ${isLast} then null else due_at end where id = ${id}`;
}
