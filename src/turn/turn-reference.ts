/** Names a turn and its right to write. Part of every activity argument. Postgres refuses a write with an older epoch. */
export interface TurnReference {
  readonly conversationId: string;
  readonly turnId: string;
  readonly epoch: number;
}

/** How a turn ended. After each outcome the next message continues the conversation. */
export type TurnOutcome =
  | 'completed'
  | 'stopped'
  | 'budget_exhausted'
  | 'context_exhausted'
  | 'model_failed'
  | 'refused'
  /** Temporal lost the turn's workflow, or an activity failed in a way that no retry can repair. */
  | 'interrupted';

export type TurnState =
  | 'running'
  | 'waiting_for_approval'
  | 'waiting_for_answer'
  | 'waiting_for_rate_limit'
  /** No worker has what comes next. */
  | 'waiting_for_worker';
