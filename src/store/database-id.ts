import type { Database } from './database.ts';

/**
 * Names this database among all: the identifier that its cluster got at initdb, and its own within
 * the cluster. Two Holdfasts that share a Temporal namespace keep their upkeep apart by it.
 */
export async function readDatabaseId(sql: Database): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select (select system_identifier from pg_control_system())::text || '-' || oid::text as id
    from pg_database where datname = current_database()`;
  if (row === undefined) throw new Error('pg_database does not list the current database');
  return row.id;
}
