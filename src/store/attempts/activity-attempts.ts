import type { Fragment, Queries } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';

/** One attempt of an activity, as Temporal names it. */
export interface ActivityAttempt {
  readonly runId: string;
  readonly activityId: string;
  readonly attempt: number;
}

/** For a column of the composite type `activity_attempt`. */
export function attemptColumn(sql: Queries, { runId, activityId, attempt }: ActivityAttempt): Fragment {
  return sql`row(${runId}, ${activityId}, ${attempt})::activity_attempt`;
}

/**
 * Whether what stands in the column came after this attempt of the same activity: Temporal has replaced this one, on a worker
 * that was frozen or cut off. Attempts of different activities have no order.
 */
export function isReplaced(sql: Queries, column: Fragment, { runId, activityId, attempt }: ActivityAttempt): Fragment {
  return sql`coalesce((${column}).run_id = ${runId} and (${column}).activity_id = ${activityId}
    and (${column}).attempt > ${attempt}, false)`;
}

export function isUpTo(sql: Queries, column: Fragment, { runId, activityId, attempt }: ActivityAttempt): Fragment {
  return sql`coalesce((${column}).run_id = ${runId} and (${column}).activity_id = ${activityId}
    and (${column}).attempt <= ${attempt}, false)`;
}

export function replacedAttempt(work: string, { attempt }: ActivityAttempt): StoreError {
  return new StoreError(
    'superseded_attempt',
    `${work} was registered by a newer attempt of its activity; this is attempt ${attempt}`,
  );
}
