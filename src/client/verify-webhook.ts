import { createHmac, timingSafeEqual } from 'node:crypto';

/** Seconds by which the clocks of server and receiver may differ, the way included. */
const TOLERANCE_SECONDS = 300;

export interface ReceivedWebhook {
  /** As `webhooks.create` returned it. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it came, not parsed and written again. */
  readonly body: string;
  /** Default: now. */
  readonly receivedAt?: Date;
}

/**
 * Checks that a webhook was sent by the holder of its secret within five minutes. What is recorded and sent again in that time has the same
 * id: a receiver that must not act twice remembers ids that long.
 * @returns its id; `null`: refuse it
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
