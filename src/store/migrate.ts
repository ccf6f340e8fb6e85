import type { Database } from './database.ts';

export interface MigrationResult {
  /** Names of the files applied now, in order; empty when the database was current. */
  readonly applied: readonly string[];
}

/**
 * Applies what is missing of `migrations/`, each file in a transaction of its own under one
 * advisory lock, so that any number of processes may call it at once.
 * @param directory Default: the `migrations` folder of this package.
 * @throws StoreError `database_newer`, `migration_changed`
 */
export async function migrate(_sql: Database, _directory?: string): Promise<MigrationResult> {
  throw new Error('unwritten');
}

/**
 * Checks without writing that the database has exactly this version's migrations.
 * @throws StoreError `database_behind`, `database_newer`, `migration_changed`
 */
export async function requireCurrentSchema(_sql: Database, _directory?: string): Promise<void> {
  throw new Error('unwritten');
}
