import { CONVERSATION_ENDPOINTS } from './conversation-endpoints.ts';
import { LOG_ENDPOINTS } from './log-endpoints.ts';
import { WEBHOOK_ENDPOINTS } from './webhook-endpoints.ts';

/** By group and method of the client. */
export const ENDPOINTS = { ...CONVERSATION_ENDPOINTS, ...LOG_ENDPOINTS, ...WEBHOOK_ENDPOINTS };

export type EndpointName = keyof typeof ENDPOINTS;
