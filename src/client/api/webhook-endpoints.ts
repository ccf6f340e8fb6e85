import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../store/conversations/webhooks.ts';
import { oneOf, text, whole } from '../arguments.ts';
import { isoTime, listOf, pageOf } from './conversation-results.ts';
import type { Endpoint } from './endpoint.ts';

const ADDRESS = 'must be an address that begins with http:// or https://';

const toCreateWebhook = {
  url: z
    .string({ error: ADDRESS })
    .regex(/^https?:\/\/[^\s\p{Cc}]{1,2000}$/u, { error: ADDRESS, abort: true })
    .refine((url) => URL.canParse(url), { error: ADDRESS }),
  events: z
    .array(oneOf(...WEBHOOK_EVENTS), { error: 'must be a list' })
    .min(1, { error: 'must name an event' })
    .optional(),
};

const webhook = z
  .object({
    webhookId: z.string(),
    url: z.string(),
    events: listOf(z.enum(WEBHOOK_EVENTS)),
    createdAt: isoTime,
  })
  .meta({ id: 'Webhook' });

const failedDelivery = z
  .object({
    deliveryId: z.string(),
    webhookId: z.string(),
    conversationId: z.string(),
    event: z.enum(WEBHOOK_EVENTS),
    attempts: z.int(),
    /** A status, or the code of an error. */
    failure: z.string(),
    createdAt: isoTime,
  })
  .meta({ id: 'FailedDelivery' });

/** Who is told of events. */
export const WEBHOOK_ENDPOINTS = {
  'webhooks.create': {
    method: 'post',
    path: '/webhooks',
    scope: 'admin',
    summary: 'Tell an address of ended turns, waiting decisions and limits that are near; the secret is shown once',
    arguments: toCreateWebhook,
    result: webhook.extend({ secret: z.string() }).meta({ id: 'NewWebhook' }),
    status: 201,
  },
  'webhooks.list': {
    method: 'get',
    path: '/webhooks',
    scope: 'admin',
    summary: 'List the addresses that are told of events',
    arguments: {},
    result: listOf(webhook),
  },
  'webhooks.delete': {
    method: 'delete',
    path: '/webhooks/{webhookId}',
    scope: 'admin',
    summary: 'Tell an address nothing more; false: there was none',
    arguments: { webhookId: text },
    result: z.boolean(),
  },
  'webhooks.listFailed': {
    method: 'get',
    path: '/webhook-failures',
    scope: 'admin',
    summary: 'List deliveries that were given up, newest first',
    arguments: { before: text.optional(), limit: whole(1).optional() },
    result: pageOf(failedDelivery),
  },
  'webhooks.retry': {
    method: 'post',
    path: '/webhook-failures/{deliveryId}/retry',
    scope: 'admin',
    summary: 'Try a delivery again that was given up; false: there was none',
    arguments: { deliveryId: text },
    result: z.boolean(),
  },
} as const satisfies Record<string, Endpoint>;
