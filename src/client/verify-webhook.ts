import { createHmac, timingSafeEqual } from 'node:crypto';

/** Seconds by which the clocks of server and receiver may differ, the way included. */
const TOLERANCE_SECONDS = 300;

export interface ReceivedWebhook {
  /** As `webhooks.create` returned it. */
  readonly secret: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The text as it came, not parsed and written again. */
  readonly body: string;
  /** When it came. Default: now. */
  readonly receivedAt?: Date;
}

/**
 * Checks that the holder of the secret sent a webhook within the last five minutes. A repeated delivery has the same id, so a receiver that
 * must not act twice remembers ids.
 * @returns the id of the delivery, or `null`: refuse it
 */
export function verifyWebhook({ secret, headers, body, receivedAt = new Date() }: ReceivedWebhook): string | null {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`]);
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return null;
  const age = receivedAt.getTime() / 1_000 - Number(timestamp);
  // Also refuses a timestamp that is no number.
  if (!(Math.abs(age) <= TOLERANCE_SECONDS)) return null;
  const expected = Buffer.from(webhookSignature(secret, { id, timestamp, body }));
  const isSigned = signatures.split(' ').some((written) => {
    const given = Buffer.from(written);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isSigned ? id : null;
}

/** As Standard Webhooks says (standardwebhooks.com). */
export function webhookSignature(
  secret: string,
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: string },
): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
