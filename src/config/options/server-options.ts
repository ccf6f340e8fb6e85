import { z } from 'zod';

const positive = z.number().int().positive();

/** What `holdfast server` takes, and what keys without limits of their own may use. */
export const serverSchema = z.strictObject({
  bodyBytes: positive.optional().meta({
    description: 'Largest body of a request, attachments included.',
    unit: 'bytes',
    defaultText: '33554432',
  }),
  watchers: positive.optional().meta({
    description: 'Event streams that are open at once.',
    unit: 'streams',
    defaultText: '2000',
  }),
  requestsPerMinute: positive.optional().meta({
    description: 'Requests of a key that names no number of its own.',
    unit: 'requests a minute',
    defaultText: '600',
  }),
  openTurns: positive.optional().meta({
    description: 'Turns of a tenant that may be open when a key that names no number of its own begins one.',
    unit: 'turns',
    defaultText: 'any',
  }),
  costPerDay: z.number().positive().optional().meta({
    description: 'Cost of a tenant in 24 hours at which a key that names no amount of its own begins no turn.',
    unit: 'dollars',
    defaultText: 'any',
  }),
  privateWebhooks: z.boolean().optional().meta({
    description: 'Whether webhooks may lead to this machine and to private networks.',
    defaultText: '`false`',
  }),
});

export type ServerSettings = z.output<typeof serverSchema>;
