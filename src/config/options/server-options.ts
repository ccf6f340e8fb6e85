import { z } from 'zod';

const positive = z.number().int().positive();

/** What `holdfast server` takes, and what keys without limits of their own may use. */
export const serverSchema = z.strictObject({
  bodyBytes: positive.optional().meta({
    description: 'Largest body of a request, attachments included.',
    unit: 'bytes',
    defaultText: '33554432',
  }),
  attachments: positive.optional().meta({
    description: 'Images and files of a message.',
    unit: 'parts',
    defaultText: '20',
  }),
  pageItems: positive.optional().meta({
    description: 'Largest `limit` of a list.',
    unit: 'items',
    defaultText: '1000',
  }),
  watchers: positive.optional().meta({
    description: 'Open event streams, exports and requests that wait.',
    unit: 'streams',
    defaultText: '2000',
  }),
  requestsPerMinute: positive.optional().meta({
    description: 'Requests of a key without a limit of its own.',
    unit: 'requests a minute',
    defaultText: '600',
  }),
  openTurns: positive.optional().meta({
    description: 'Open turns of a tenant, for a key without a limit of its own. At the limit no new turn begins.',
    unit: 'turns',
    defaultText: 'no limit',
  }),
  costPerDay: z.number().positive().optional().meta({
    description: 'Cost of a tenant in 24 hours, for a key without a limit of its own. At the limit no new turn begins.',
    unit: 'dollars',
    defaultText: 'no limit',
  }),
  privateWebhooks: z.boolean().optional().meta({
    description: 'Whether webhooks may call this machine and private networks.',
    defaultText: '`false`',
  }),
});

export type ServerSettings = z.output<typeof serverSchema>;
