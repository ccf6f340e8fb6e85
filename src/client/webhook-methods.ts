import { randomBytes } from 'node:crypto';
import { definedOf } from '../context/policy/defined-of.ts';
import {
  deleteWebhook,
  insertWebhook,
  listFailedDeliveries,
  listWebhooks,
  retryDelivery,
  WEBHOOK_EVENTS,
} from '../store/conversations/webhooks.ts';
import type { FailedDelivery, Webhook, WebhookEvent } from '../store/conversations/webhooks.ts';
import type { ClientContext } from './client-context.ts';
import { pageOf } from './page.ts';
import type { Page } from './page.ts';

const SECRET_BYTES = 32;
const MOST_LISTED = 500;

/** Addresses that `holdfast server` calls at events of the client's tenant. */
export class WebhookMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Adds an address that is called from now on.
   * @param options.url begins with https:// or http://
   * @param options.events only these events. Default: all
   * @returns the webhook with its secret, which signs each call and is shown once
   */
  async create(options: {
    readonly url: string;
    readonly events?: readonly WebhookEvent[];
  }): Promise<Webhook & { readonly secret: string }> {
    const { database, tenant } = this.#context;
    const { url, events = WEBHOOK_EVENTS } = options;
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    return { ...(await insertWebhook(database, { tenant, url, secret, events })), secret };
  }

  /** All of the tenant, without their secrets. */
  list(): Promise<Webhook[]> {
    const { database, tenant } = this.#context;
    return listWebhooks(database, tenant);
  }

  /** Deletes a webhook and what waits for it. @param options.webhookId as `webhooks.list` returns it @returns whether it existed */
  delete(options: { readonly webhookId: string }): Promise<boolean> {
    const { database, tenant } = this.#context;
    return deleteWebhook(database, tenant, options.webhookId);
  }

  /**
   * Deliveries that failed for a day, newest first.
   * @param options.before id of the last delivery of the page before
   * @param options.limit at most 500. Default: 50
   */
  async listFailed(options: { readonly before?: string; readonly limit?: number } = {}): Promise<Page<FailedDelivery>> {
    const { database, tenant } = this.#context;
    const { before: beforeId, limit: wanted = 50 } = options;
    const limit = Math.min(wanted, MOST_LISTED);
    const page = { ...definedOf({ beforeId }), tenant, limit: limit + 1 };
    return pageOf(await listFailedDeliveries(database, page), limit);
  }

  /** Tries a failed delivery again. @param options.deliveryId as `webhooks.listFailed` returns it @returns whether it existed */
  retry(options: { readonly deliveryId: string }): Promise<boolean> {
    const { database, tenant } = this.#context;
    return retryDelivery(database, tenant, options.deliveryId);
  }
}
