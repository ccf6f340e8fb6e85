import type { Database, Transaction } from '../database/database.ts';

/** Longest pause of the transaction that holds the lock. A worker that froze in it keeps the others out for so long. */
const LOCK_MILLISECONDS = 60_000;

/** Works under a lock that one process holds at a time. Does nothing if another process holds it. */
export async function alone(
  database: Database,
  name: string,
  work: (open: Transaction) => Promise<void>,
): Promise<void> {
  await database.begin(async (open) => {
    await open`select set_config('idle_in_transaction_session_timeout', ${String(LOCK_MILLISECONDS)}, true)`;
    const [row] = await open<{ isFree: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as is_free`;
    if (row?.isFree === true) await work(open);
  });
}
