import type { Transaction } from '../../../src/store/database/database.ts';
import { waitUntil } from '../../support/wait-until.ts';

/**
 * Waits until so many connections wait for what this transaction has locked, or for one that does. Asked by the transaction itself, which
 * the server would end if it rested.
 */
export async function waitForWaiters(open: Transaction, count: number): Promise<void> {
  await waitUntil(`${count} wait for the transaction`, async () => {
    // By the locks: what pg_stat_activity says does not change within a transaction.
    const [row] = await open<{ waiting: number }[]>`
      with recursive held (pid) as (
        select pg_backend_pid()
        union
        select l.pid from held join pg_locks l on not l.granted and held.pid = any(pg_blocking_pids(l.pid)))
      select count(*)::int - 1 as waiting from held`;
    return (row?.waiting ?? 0) >= count;
  });
}
