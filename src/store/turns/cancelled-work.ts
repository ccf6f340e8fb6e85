import type { Database } from '../database/database.ts';

/** NOTIFY channel of workers. Payload: id of a turn whose running work is cancelled. */
export const WORK_CHANNEL = 'holdfast_work';

export interface CancellableWork {
  readonly turnId: string;
  readonly runId: string;
  /** Unique in the run, and counted up. */
  readonly activityId: number;
}

/** Cancels what the run has scheduled of its turn up to this activity, and wakes the workers. What comes later is not meant. */
export async function markCancelled(
  sql: Database,
  { conversationId, runId, activityId }: Omit<CancellableWork, 'turnId'> & { readonly conversationId: string },
): Promise<void> {
  await sql`
    with marked as (
      update turns set cancelled_through = greatest(cancelled_through, ${activityId})
      where conversation_id = ${conversationId} and outcome is null and run_id = ${runId} returning id)
    select pg_notify(${WORK_CHANNEL}, id::text) from marked`;
}

export async function findCancelled(sql: Database, works: readonly CancellableWork[]): Promise<readonly boolean[]> {
  if (works.length === 0) return [];
  const rows = await sql<{ place: number }[]>`
    select w.place from unnest(
      ${works.map((_, place) => place)}::int[], ${works.map(({ turnId }) => turnId)}::uuid[],
      ${works.map(({ runId }) => runId)}::text[], ${works.map(({ activityId }) => activityId)}::int[])
      as w (place, turn_id, run_id, activity_id)
    join turns t on t.id = w.turn_id and t.run_id = w.run_id and t.cancelled_through >= w.activity_id`;
  const cancelled = new Set(rows.map(({ place }) => place));
  return works.map((_, place) => cancelled.has(place));
}
