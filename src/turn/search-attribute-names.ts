/** Of the search attributes that Temporal shows of a run: set when it starts, changed on a change of state only; all are keywords. */
export const SEARCH_ATTRIBUTE_NAMES = {
  conversation: 'HoldfastConversation',
  agent: 'HoldfastAgent',
  model: 'HoldfastModel',
  turnState: 'HoldfastTurnState',
} as const;
