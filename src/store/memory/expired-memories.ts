import type { Database } from '../database/database.ts';

/** Seconds that a memory stays after it expired: a clock that is wrong by hours ends none for good. */
const KEPT_SECONDS = 86_400;
const DELETED_AT_ONCE = 1_000;

/**
 * Deletes memories that expired more than a day ago, with those whose place they had taken: they were to be kept until then. The
 * entries that they were taken from stay.
 *
 * @returns whether all such are gone now, or there may be more
 */
export async function deleteExpiredMemories(
  sql: Database,
): Promise<{ readonly deleted: number; readonly isAll: boolean }> {
  const isExpired = sql`expires_at < holdfast_now() - make_interval(secs => ${KEPT_SECONDS})`;
  const expired = await sql<{ id: string }[]>`
    select id from memories where ${isExpired} order by expires_at limit ${DELETED_AT_ONCE}`;
  if (expired.length === 0) return { deleted: 0, isAll: true };
  // One that was stated again meanwhile is kept.
  const { count: deleted } = await sql`
    delete from memories where id = any(${expired.map(({ id }) => id)}::uuid[]) and ${isExpired}`;
  return { deleted, isAll: expired.length < DELETED_AT_ONCE };
}
