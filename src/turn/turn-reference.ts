/** Names a turn and its right to write. Part of every activity argument; a write with an older epoch is refused by the database. */
export interface TurnReference {
  readonly conversationId: string;
  readonly turnId: string;
  readonly epoch: number;
}

/** How a turn ended. Each one leaves a conversation that the next message continues. */
export type TurnOutcome =
  | 'completed'
  | 'stopped'
  | 'budget_exhausted'
  | 'context_exhausted'
  | 'model_failed'
  | 'refused'
  /** Temporal no longer knows the workflow that worked on the turn, or an activity failed in a way that no retry can mend. */
  | 'interrupted';

export type TurnState =
  | 'running'
  | 'waiting_for_approval'
  | 'waiting_for_answer'
  | 'waiting_for_rate_limit'
  /** None has what comes next so far. */
  | 'waiting_for_worker';
