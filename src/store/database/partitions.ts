import type { Queries } from './database.ts';
import { StoreError } from './errors.ts';

/** Tables that grow with each step, and the column by which they can be divided. */
const PARTITION_KEYS: ReadonlyMap<string, string> = new Map([
  ['content_pieces', 'content_id'],
  ['entries', 'conversation_id'],
  ['events', 'conversation_id'],
  ['model_attempts', 'conversation_id'],
  ['tool_calls', 'conversation_id'],
]);

const CREATE_TABLE = /^create table (?<table>\w+) \((?<columns>[^;]*?)^\)(?<storage> with \(.*\))?;$/gmu;

/** The text of a migration, with these tables divided by hash. Partitions take the storage options, which Postgres refuses on what is divided. */
export function divideTables(text: string, partitions: number): string {
  return text.replaceAll(CREATE_TABLE, (statement: string, table: string, columns: string, storage = '') => {
    const key = PARTITION_KEYS.get(table);
    if (key === undefined) return statement;
    const parts = Array.from(
      { length: partitions },
      (_, remainder) =>
        `create table ${table}_${remainder} partition of ${table} for values with (modulus ${partitions}, remainder ${remainder})${storage};`,
    );
    return [`create table ${table} (${columns}) partition by hash (${key});`, ...parts].join('\n');
  });
}

/** Each of the tables must be divided. @throws StoreError `database_unsupported` */
export async function requirePartitions(sql: Queries, partitions: number): Promise<void> {
  const [row] = await sql<{ found: number }[]>`
    select count(i.inhrelid)::int as found
    from unnest(${[...PARTITION_KEYS.keys()]}::text[]) as t (name)
      left join pg_inherits i on i.inhparent = to_regclass('holdfast.' || t.name)
    group by t.name having count(i.inhrelid) <> ${partitions} limit 1`;
  if (row === undefined) return;
  const { found } = row;
  throw new StoreError(
    'database_unsupported',
    `the tables of this database were made ${found === 0 ? 'whole' : `in ${found} partitions`}, which stays so: ${partitions} partitions need a new database`,
  );
}
