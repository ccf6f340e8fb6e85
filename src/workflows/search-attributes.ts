import { defineSearchAttributeKey } from '@temporalio/common';

/** Never encrypted by Temporal, so they hold ids and names only. */
export const CONVERSATION_ATTRIBUTE = defineSearchAttributeKey('HoldfastConversation', 'KEYWORD');
export const AGENT_ATTRIBUTE = defineSearchAttributeKey('HoldfastAgent', 'KEYWORD');
export const MODEL_ATTRIBUTE = defineSearchAttributeKey('HoldfastModel', 'KEYWORD');
export const TURN_STATE_ATTRIBUTE = defineSearchAttributeKey('HoldfastTurnState', 'KEYWORD');
