import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/store/database/database.ts';

/** What was done with a table while something ran. */
export interface TableReads {
  readonly table: string;
  /** Rows read by scans of the whole table. */
  readonly scanned: number;
  /** Rows read through indexes. A scan of an index alone fetches none of the table: its entries count, where they are more. */
  readonly fetched: number;
  /** Scans that began, of the table or of an index, whether or not they found a row. */
  readonly scans: number;
  /** Rows inserted, updated or deleted. */
  readonly written: number;
}

/** What the server counted since it counts. */
interface TableCounts extends TableReads {
  /** Entries read of indexes, for rows that were fetched or without. */
  readonly entries: number;
}

/**
 * A connection tells its counts at most once a second, with a statement; what it has not told when it rests it tells ten seconds
 * later (PGSTAT_IDLE_INTERVAL). So what was done is told once nothing has been told for longer than that.
 */
const TOLD_AFTER_MILLISECONDS = 11_000;
const LOOK_MILLISECONDS = 1_000;
const LONGEST_WAIT_MILLISECONDS = 60_000;

/**
 * Tables that may be read whole: what they hold grows neither with steps nor with conversations, and for a few rows the scan is
 * the best plan. Every other table of the schema is judged, also one that a later migration adds.
 */
const READ_WHOLE: ReadonlyMap<string, string> = new Map([
  ['migrations', 'one row a migration'],
  ['deployment', 'one row'],
  ['provider_pauses', 'one row a provider and key'],
  ['provider_calls', 'calls that wait, have a place, or had one within a minute'],
  ['model_facts', 'one row a model and server'],
  ['workers', 'one row a worker that lives'],
]);

/** Those of the tables that grow with use. */
export function judgedReads(reads: readonly TableReads[]): readonly TableReads[] {
  return reads.filter(({ table }) => !READ_WHOLE.has(table));
}

/**
 * Rows that Postgres read in each table while something ran, whoever asked: statements, triggers and foreign keys alike. A
 * query that reads a whole table shows as `scanned`; one that reads more the more there is shows in `fetched`.
 * @param options.isAlone the work is done by this one connection alone, which is told to tell its counts at once
 */
export async function readsDuring(
  sql: Database,
  work: () => Promise<unknown>,
  { isAlone = false }: { readonly isAlone?: boolean } = {},
): Promise<readonly TableReads[]> {
  const count = isAlone ? countsOfThisConnection : counts;
  const before = await count(sql);
  await work();
  const after = await count(sql);
  return after.map((now) => {
    const then = before.find(({ table }) => table === now.table);
    const since = (count: Exclude<keyof TableCounts, 'table'>): number => now[count] - (then?.[count] ?? 0);
    return {
      table: now.table,
      scanned: since('scanned'),
      fetched: Math.max(since('fetched'), since('entries')),
      scans: since('scans'),
      written: since('written'),
    };
  });
}

/** Postgres before 15 cannot be told. */
async function countsOfThisConnection(sql: Database): Promise<readonly TableCounts[]> {
  const [known] = await sql`select from pg_proc where proname = 'pg_stat_force_next_flush'`;
  if (known === undefined) return counts(sql);
  await sql`select pg_stat_force_next_flush()`;
  return look(sql);
}

/** Looks until nothing is told of the judged tables any more: what was done before must not count as what is measured. A worker renews its row all the time. */
async function counts(sql: Database): Promise<readonly TableCounts[]> {
  const deadline = Date.now() + LONGEST_WAIT_MILLISECONDS;
  let last = await look(sql);
  let changedAt = Date.now();
  while (Date.now() - changedAt < TOLD_AFTER_MILLISECONDS && Date.now() < deadline) {
    await delay(LOOK_MILLISECONDS);
    const next = await look(sql);
    if (JSON.stringify(judgedReads(next)) !== JSON.stringify(judgedReads(last))) changedAt = Date.now();
    last = next;
  }
  return last;
}

async function look(sql: Database): Promise<readonly TableCounts[]> {
  return sql<TableCounts[]>`
    select relname as table, seq_tup_read::float8 as scanned, coalesce(idx_tup_fetch, 0)::float8 as fetched,
      (seq_scan + coalesce(idx_scan, 0))::float8 as scans, (n_tup_ins + n_tup_upd + n_tup_del)::float8 as written,
      coalesce((select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid), 0)::float8 as entries
    from pg_stat_user_tables t where schemaname = 'holdfast' order by relname`;
}
