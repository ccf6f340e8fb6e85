import { CONVERSATION_ENDPOINTS } from './conversation-endpoints.ts';
import { LOG_ENDPOINTS } from './log-endpoints.ts';

/** By group and method of the client. */
export const ENDPOINTS = { ...CONVERSATION_ENDPOINTS, ...LOG_ENDPOINTS };

export type EndpointName = keyof typeof ENDPOINTS;
