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

/** Other programs that `holdfast server` tells of events of the client's tenant. */
export class WebhookMethods {
  readonly #context: ClientContext;

  constructor(context: ClientContext) {
    this.#context = context;
  }

  /**
   * Tells an address of events from then on.
   * @param options.events default: all
   * @returns with the secret that signs what is sent, which is shown once
   */
  create(options: {
    readonly url: string;
    readonly events?: readonly WebhookEvent[];
  }): Promise<Webhook & { readonly secret: string }> {
    const { boundary, database, tenant } = this.#context;
    return boundary.call('webhooks.create', options, async () => {
      const { url, events = WEBHOOK_EVENTS } = options;
      const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
      return { ...(await insertWebhook(database, { tenant, url, secret, events })), secret };
    });
  }

  list(): Promise<Webhook[]> {
    const { boundary, database, tenant } = this.#context;
    return boundary.call('webhooks.list', {}, () => listWebhooks(database, tenant));
  }

  /** Also drops what it was not yet told. @returns whether there was one */
  delete(options: { readonly webhookId: string }): Promise<boolean> {
    const { boundary, database, tenant } = this.#context;
    return boundary.call('webhooks.delete', options, () => deleteWebhook(database, tenant, options.webhookId));
  }

  /**
   * Deliveries that were given up after a day of tries, the newest first.
   * @param options.before id of the last delivery of the page before
   * @param options.limit at most 500. Default: 50
   */
  listFailed(options: { readonly before?: string; readonly limit?: number } = {}): Promise<Page<FailedDelivery>> {
    const { boundary, database, tenant } = this.#context;
    return boundary.call('webhooks.listFailed', options, async () => {
      const { before: beforeId, limit: wanted = 50 } = options;
      const limit = Math.min(wanted, MOST_LISTED);
      const page = { ...definedOf({ beforeId }), tenant, limit: limit + 1 };
      return pageOf(await listFailedDeliveries(database, page), limit);
    });
  }

  /** Tries a delivery again that was given up. @returns whether there was one */
  retry(options: { readonly deliveryId: string }): Promise<boolean> {
    const { boundary, database, tenant } = this.#context;
    return boundary.call('webhooks.retry', options, () => retryDelivery(database, tenant, options.deliveryId));
  }
}
