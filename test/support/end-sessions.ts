import type { Database } from '../../src/store/database/database.ts';

/** Ends the session by which a worker's process shows that it lives: one that is frozen meanwhile is taken for dead. */
export async function endSessions(sql: Database, processId: number): Promise<void> {
  await sql`
    select pg_terminate_backend(l.pid) from pg_locks l join workers w
      on l.classid::bigint << 32 | l.objid::bigint = hashtextextended('worker ' || w.id, 0)
    where l.locktype = 'advisory' and l.granted and w.id like ${`${processId}@%`}
      and l.database = (select oid from pg_database where datname = current_database())`;
}
