/** Temporal's own cancel of a turn's workflow: a stop that has no row in Postgres. */
export interface CancelRequest {
  /** The run that was cancelled. */
  readonly runId: string;
  /** What had arrived by then is stopped by it, by the clock of Postgres. */
  readonly reachesUntil: Date;
}
