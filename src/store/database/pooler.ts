import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connectDatabase, isPooled } from './database.ts';
import type { Database, DatabaseOptions, Queries } from './database.ts';
import { StoreError } from './errors.ts';

/** Two connections of a pooler in session mode may be as many as it allows at once. */
const TRIES = 3;
/** Milliseconds in which a notification arrives where one can. */
const NOTIFICATION_MILLISECONDS = 20_000;

/**
 * Opens a pool, unless its address leads to a pooler in transaction mode without saying so: what is set for a connection would stay for the
 * pooler's other clients. A direct connection costs one query.
 * @throws StoreError `database_pooled`, `database_url_invalid`
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const sql = connectDatabase(options);
  if (!isPooled(sql)) await refuseUndeclaredPooler(options);
  return sql;
}

async function refuseUndeclaredPooler(options: DatabaseOptions): Promise<void> {
  // As behind a pooler, it sets nothing that stays.
  const probe = connectDatabase({ ...options, listenUrl: null, pooled: true, maximumConnections: 2 });
  try {
    if (!(await hasPooler(probe)) || !(await sharesConnections(probe))) return;
  } finally {
    await probe.end({ timeout: 1 });
  }
  throw new StoreError(
    'database_pooled',
    'the address of the database leads to a pooler in transaction mode: add the parameter pgbouncer=true to it, and name a direct connection to the same database in DATABASE_LISTEN_URL, `database.listenUrl` or `listenUrl`',
  );
}

/** What a pooler in transaction mode costs a worker that has no other way to the database. */
export const WITHOUT_DIRECT_CONNECTION =
  'there is no direct connection to the database: the death of a worker is noticed by its heartbeats alone, after 20 s, and a stop takes up to a second longer';

/** A pooler tells its clients process numbers of its own. */
async function hasPooler(sql: Queries): Promise<boolean> {
  const rows = await sql<{ pid: number }[]>`select pg_catalog.pg_backend_pid() as pid`;
  return rows[0]?.pid !== rows.state.pid;
}

/** Whether a second connection gets the process of the first one while that has no transaction open. */
async function sharesConnections(sql: Database): Promise<boolean> {
  const first = await sql.reserve();
  const second = await sql.reserve();
  const pidOf = async (queries: Queries): Promise<unknown> =>
    (await queries.unsafe('select pg_catalog.pg_backend_pid() as pid'))[0]?.['pid'];
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const own = await pidOf(first);
      await second.unsafe('begin');
      const other = await pidOf(second);
      await second.unsafe('rollback');
      if (own === other || own !== (await pidOf(first))) return true;
    }
    return false;
  } finally {
    first.release();
    second.release();
  }
}

/**
 * Sends a notification and waits for it, so that a worker does not start where stops and decisions would not reach running work.
 * @throws StoreError `database_pooled`
 */
export async function requireNotifications(sql: Database): Promise<void> {
  const channel = `holdfast_probe_${randomUUID()}`;
  const limit = new AbortController();
  let heard = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (heard = resolve));
  const listening = await sql.listen(channel, () => heard());
  try {
    await sql.notify(channel, '');
    const late = delay(NOTIFICATION_MILLISECONDS, 'late', { signal: limit.signal }).catch(() => 'late');
    if ((await Promise.race([arrived, late])) !== 'late') return;
  } finally {
    limit.abort();
    await listening.unlisten();
  }
  throw new StoreError(
    'database_pooled',
    'notifications of the database do not arrive: DATABASE_LISTEN_URL, `database.listenUrl` or `listenUrl` must name a direct connection to the same database',
  );
}
