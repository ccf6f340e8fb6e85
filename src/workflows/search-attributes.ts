import { defineSearchAttributeKey } from '@temporalio/common';
import { SEARCH_ATTRIBUTE_NAMES } from '../turn/search-attribute-names.ts';

/** Never encrypted by Temporal, so they hold ids and names only. */
export const CONVERSATION_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.conversation, 'KEYWORD');
export const AGENT_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.agent, 'KEYWORD');
export const MODEL_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.model, 'KEYWORD');
export const TURN_STATE_ATTRIBUTE = defineSearchAttributeKey(SEARCH_ATTRIBUTE_NAMES.turnState, 'KEYWORD');
