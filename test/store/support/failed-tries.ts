import { recordFailedTry, stepOf } from '../../../src/store/attempts/attempts.ts';
import type { AttemptEnd, Attempts } from '../../../src/store/attempts/attempts.ts';
import type { Database } from '../../../src/store/database/database.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';

/** How a try of a step failed. */
export interface ModelFailure extends NonNullable<AttemptEnd['failure']>, Omit<AttemptEnd, 'failure'> {
  readonly turn: TurnReference;
  readonly callNumber: number;
}

export function recordModelFailure(
  sql: Database,
  { attempt, usage, cost, ...failure }: ModelFailure,
): Promise<Attempts> {
  const { durationMilliseconds } = failure;
  return recordFailedTry(sql, stepOf(failure), { attempt, usage, cost, durationMilliseconds, failure });
}
