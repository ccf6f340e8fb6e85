import { z } from 'zod';
import { RequestError } from './problem.ts';

const positive = z.int().min(1);

/** What one server takes. Sizes in bytes. */
export const serverLimits = z.strictObject({
  /** Of a request's body, attachments included. */
  bodyBytes: positive.default(32 * 1024 * 1024),
  /** Images and files of a message. */
  attachments: positive.default(20),
  /** Largest `limit` of a list. */
  pageItems: positive.default(1_000),
  /** Of a key that names no number of its own. */
  requestsPerMinute: positive.default(600),
  /** Turns of a tenant, for a key that names no number of its own; `null`: any. */
  openTurns: positive.nullable().default(null),
  /** Dollars of a tenant in 24 hours, for a key that names no amount of its own; `null`: any. */
  costPerDay: z.number().positive().nullable().default(null),
  /** Open event streams, exports and requests that wait, of the process. */
  watchers: positive.default(2_000),
  /** Seconds within which a request must have come whole: a client that sends no faster is cut off. */
  requestSeconds: z.number().min(0.05).default(120),
  /** Seconds between comments that keep an event stream open. */
  heartbeatSeconds: z.number().min(0.05).default(15),
  /** Seconds after which open event streams look whether their keys are still in force. */
  keyCheckSeconds: z.number().min(0.05).default(3),
});

export type ServerLimits = z.output<typeof serverLimits>;

const textPart = z.looseObject({ type: z.literal('text') });

/** @param content of a message, as it came @throws RequestError `body_too_large` for more images and files than the server takes */
export function requireAttachments(content: unknown, { attachments }: ServerLimits): void {
  const attached = Array.isArray(content) ? content.filter((part) => !textPart.safeParse(part).success).length : 0;
  if (attached <= attachments) return;
  throw new RequestError('body_too_large', `A message has at most ${attachments} images and files, not ${attached}.`);
}
