import type { Database, Fragment, Queries } from '../database/database.ts';
import type { WorkerNeed } from '../../turn/limits.ts';
import { alone } from './alone.ts';

/** A worker whose session lock nobody holds. */
export interface FreeSession {
  readonly id: string;
  /** How often it has renewed its row: the same number twice is a worker that did not in between. */
  readonly renewals: number;
}

function lockOf(sql: Queries, id: Fragment): Fragment {
  return sql`hashtextextended('worker ' || ${id}, 0)`;
}

/**
 * Takes the worker's lock for as long as the connection lives. A machine that is gone closes no connection: Postgres asks it, and ends the
 * session after 8 s without an answer.
 * @param session one connection, without a pooler in between
 */
export async function holdSessionLock(session: Database, id: string): Promise<void> {
  await session`
    select set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '1', false),
      set_config('tcp_keepalives_count', '3', false), set_config('idle_session_timeout', '0', false),
      pg_advisory_lock(${lockOf(session, session`${id}`)})`;
}

/** What a worker can run. */
export interface Announcement {
  /** Queue that it serves, with its build if it has one: work goes only to workers of the same. */
  readonly taskQueue: string;
  readonly offers: readonly WorkerNeed[];
}

function offerText({ needs, name }: WorkerNeed): string {
  return `${needs} ${name}`;
}

/**
 * Renews the worker's row and looks for workers, itself among them, that do not hold their lock.
 * @param mine conversations that the worker works on; `null`: it does not hold its lock and must not be taken for dead, so it has no row
 * @param announced what the worker can run
 * @returns of the others none in the first ten seconds of Postgres: they may still be on their way back
 */
export async function renewSession(
  sql: Database,
  id: string,
  mine: readonly string[] | null,
  { taskQueue, offers }: Announcement,
): Promise<readonly FreeSession[]> {
  const write =
    mine === null
      ? sql`delete from workers where id = ${id}`
      : sql`
        insert into workers (id, renewals, task_queue, offers, conversations)
        values (${id}, 1, ${taskQueue}, ${offers.map(offerText)}::text[], ${[...mine]}::uuid[])
        on conflict (id) do update set renewals = workers.renewals + 1, conversations = excluded.conversations`;
  return sql<FreeSession[]>`
    with written as (${write})
    select w.id, w.renewals from workers w
    where (w.id = ${id} or pg_postmaster_start_time() < clock_timestamp() - interval '10 seconds')
      and pg_try_advisory_xact_lock_shared(${lockOf(sql, sql`w.id`)})`;
}

/** Workers that hold their session lock, the oldest first. */
export async function listWorkers(sql: Database): Promise<{ readonly id: string; readonly since: Date }[]> {
  return sql<{ id: string; since: Date }[]>`
    select id, since from workers
    where not pg_try_advisory_xact_lock_shared(${lockOf(sql, sql`id`)}) order by since`;
}

/** Names of the agents that running workers have. */
export async function listAgentsOfWorkers(sql: Database): Promise<string[]> {
  const rows = await sql<{ agent: string }[]>`
    select distinct substr(offer, length('agent ') + 1) as agent from workers, unnest(offers) as offer
    where offer like 'agent %' order by 1`;
  return rows.map(({ agent }) => agent);
}

/** Whether a running worker of the queue can run this. */
export async function isServed(sql: Database, taskQueue: string, need: WorkerNeed): Promise<boolean> {
  const rows = await sql`select from workers where task_queue = ${taskQueue} and offers @> array[${offerText(need)}]`;
  return rows.length > 0;
}

/**
 * Does the work that follows a worker's death, under the lock that the dead worker does not hold any more. If it fails, the row stays. A
 * worker that turns out to live renews its row meanwhile, and so keeps it.
 * @param work gets the conversations that the dead worker worked on, and 500 others with an open turn or a waiting message, because it may
 *   have died before it received a task of them. Not called if the worker lives or another one takes over
 */
export async function takeOverSession(
  sql: Database,
  { id, renewals }: FreeSession,
  work: (conversations: readonly string[]) => Promise<void>,
): Promise<void> {
  await alone(sql, `worker ${id}`, async (open) => {
    const [dead] = await open<{ conversations: readonly string[] }[]>`
      select conversations || array(
          select conversation_id from turns where outcome is null
          union select conversation_id from messages where consumed_at is null
          except select unnest(conversations) limit 500) as conversations
      from workers where id = ${id} and renewals = ${renewals}`;
    if (dead === undefined) return;
    await work(dead.conversations);
    await open`delete from workers where id = ${id} and renewals = ${renewals}`;
  });
}
