import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../src/store/database.ts';

/** Rows read in a table since the server counts. */
export interface TableReads {
  readonly table: string;
  /** By scans of the whole table. */
  readonly scanned: number;
  /** Through indexes. */
  readonly fetched: number;
}

/**
 * A connection tells its counts at most once a second, with a statement; what it has not told when it rests it tells ten seconds
 * later (PGSTAT_IDLE_INTERVAL): nothing else may have worked on the database shortly before.
 */
const TOLD_AFTER_MILLISECONDS = 1_500;

/**
 * Rows that Postgres read in each table while something ran, whoever asked: statements, triggers and foreign keys alike. A
 * query that reads a whole table shows as `scanned`; one that reads more the more there is shows in `fetched`.
 */
export async function readsDuring(sql: Database, work: () => Promise<unknown>): Promise<readonly TableReads[]> {
  const before = await counts(sql);
  await work();
  const after = await counts(sql);
  return after.map(({ table, scanned, fetched }) => {
    const earlier = before.find((each) => each.table === table);
    return { table, scanned: scanned - (earlier?.scanned ?? 0), fetched: fetched - (earlier?.fetched ?? 0) };
  });
}

async function counts(sql: Database): Promise<readonly TableReads[]> {
  await delay(TOLD_AFTER_MILLISECONDS);
  return sql<TableReads[]>`
    select relname as table, seq_tup_read::float8 as scanned, coalesce(idx_tup_fetch, 0)::float8 as fetched
    from pg_stat_user_tables where schemaname = 'public' order by relname`;
}
