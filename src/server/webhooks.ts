import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { useAgent } from 'request-filtering-agent';
import { webhookSignature } from '../client/verify-webhook.ts';
import { endDelivery, failDelivery, takeDueDeliveries } from '../store/conversations/webhooks.ts';
import type { DueDelivery } from '../store/conversations/webhooks.ts';
import type { Database } from '../store/database/database.ts';

/** Deliveries that one look begins. */
const TAKEN_AT_ONCE = 20;
/** Deliveries under way in a process: as many webhooks as leave none of these free keep others waiting. */
const MOST_UNDER_WAY = 500;
/** Tries of a delivery: the last one comes about a day after the event. */
const MOST_ATTEMPTS = 15;
const ANSWER_MILLISECONDS = 10_000;
/** Given up at once, because no later try could reach it. */
const PRIVATE_ADDRESS = 'private_address';

export interface WebhookOptions {
  /** As the application: deliveries of all tenants. */
  readonly database: Database;
  /** Whether addresses of this machine and of private networks are called. */
  readonly allowPrivate: boolean;
  readonly intervalMilliseconds?: number;
  /** Told of faults of the server, never of a webhook that does not answer. */
  readonly log: (error: unknown) => void;
}

/** Tells webhooks what happened, beside the requests of the server. One that does not answer keeps only its own deliveries waiting. */
export function startWebhooks(options: WebhookOptions): { end(): Promise<void> } {
  /** Deliveries under way, with their webhooks. */
  const underWay = new Map<Promise<void>, string>();
  let looking: Promise<void> | null = null;
  let isEnding = false;
  const begin = (delivery: DueDelivery): void => {
    const { webhookId } = delivery;
    const delivering = deliver(delivery, options)
      .catch(options.log)
      .finally(() => {
        underWay.delete(delivering);
        if (![...underWay.values()].includes(webhookId)) look();
      });
    underWay.set(delivering, webhookId);
  };
  const takeDue = async (): Promise<void> => {
    for (;;) {
      const room = Math.min(TAKEN_AT_ONCE, MOST_UNDER_WAY - underWay.size);
      if (room <= 0 || isEnding) return;
      const due = await takeDueDeliveries(options.database, [...new Set(underWay.values())], room);
      due.forEach(begin);
      if (due.length < room) return;
    }
  };
  const look = (): void => {
    if (isEnding) return;
    looking ??= takeDue()
      .catch(options.log)
      .finally(() => {
        looking = null;
      });
  };
  const timer = setInterval(look, options.intervalMilliseconds ?? 1_000);
  return {
    async end() {
      isEnding = true;
      clearInterval(timer);
      await looking;
      await Promise.all(underWay.keys());
    },
  };
}

async function deliver(delivery: DueDelivery, { database, allowPrivate }: WebhookOptions): Promise<void> {
  const failure = await post(delivery, allowPrivate).then(
    (status) => (status >= 200 && status < 300 ? null : `status ${status}`),
    codeOf,
  );
  if (failure === null) await endDelivery(database, delivery.id);
  else {
    const isGivenUp = failure === PRIVATE_ADDRESS || delivery.attempts >= MOST_ATTEMPTS;
    await failDelivery(database, delivery.id, failure, isGivenUp);
  }
}

/** The address is looked up and judged as the connection is made, so no name leads elsewhere afterwards. Redirects are not followed. */
function post({ id, url, secret, body }: DueDelivery, allowPrivate: boolean): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': webhookSignature(secret, { id, timestamp, body }),
  };
  const agent = useAgent(url, { allowPrivateIPAddress: allowPrivate });
  const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const sent = send(url, { method: 'POST', headers, agent, signal }, (answer) => {
      answer.destroy();
      resolve(answer.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Never its message, which quotes the address. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (/is not allowed/u.test(error.message)) return PRIVATE_ADDRESS;
  return 'code' in error ? String(error.code) : error.name;
}
