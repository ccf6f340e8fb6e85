import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database, Queries, Transaction } from './database.ts';
import { StoreError } from './errors.ts';

export interface MigrationResult {
  /** Names of the files applied now, in order; empty when the database was current. */
  readonly applied: readonly string[];
}

interface MigrationFile {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

/** Any number, the same in all versions: two migrators wait for each other. */
const MIGRATION_LOCK = 4_702_361_985;

/** Files are numbered so that their names sort in order of application. */
const MIGRATION_NAME = /^\d{6}_[a-z0-9_]+\.sql$/u;

/**
 * Applies what is missing of `migrations/`, each file in a transaction of its own under one
 * advisory lock, so that any number of processes may call it at once.
 * @param directory Default: the `migrations` folder of this package.
 * @throws StoreError `database_newer`, `migration_changed`
 */
export async function migrate(sql: Database, directory = packageMigrations()): Promise<MigrationResult> {
  const files = await readMigrations(directory);
  await createBookkeeping(sql);
  const applied: string[] = [];
  for (const file of files) if (await applyOnce(sql, file, files)) applied.push(file.name);
  return { applied };
}

/** Waits as long as another migrator needs, whatever time limits the connection has. */
async function takeLock(transaction: Transaction): Promise<void> {
  await transaction`set local lock_timeout = 0`;
  await transaction`set local statement_timeout = 0`;
  await transaction`select pg_advisory_xact_lock(${String(MIGRATION_LOCK)}::bigint)`;
}

/** True when this call applied the file; the lock ends with the transaction, whatever happens. */
async function applyOnce(sql: Database, file: MigrationFile, files: readonly MigrationFile[]): Promise<boolean> {
  let applied = false;
  await sql.begin(async (transaction) => {
    await takeLock(transaction);
    const missing = await missingMigrations(transaction, files);
    if (!missing.some(({ name }) => name === file.name)) return;
    await transaction.unsafe(file.text);
    await transaction`insert into migrations (name, checksum) values (${file.name}, ${file.checksum})`;
    applied = true;
  });
  return applied;
}

/**
 * Checks without writing that the database has exactly this version's migrations.
 * @throws StoreError `database_behind`, `database_newer`, `migration_changed`
 */
export async function requireCurrentSchema(sql: Database, directory = packageMigrations()): Promise<void> {
  const files = await readMigrations(directory);
  const [bookkeeping] = await sql<{ exists: boolean }[]>`select to_regclass('migrations') is not null as exists`;
  const missing = bookkeeping?.exists === true ? await missingMigrations(sql, files) : files;
  if (missing.length === 0) return;
  throw new StoreError(
    'database_behind',
    `the database lacks ${missing.length} of ${files.length} migrations, from ${missing[0]?.name ?? ''} on; apply them with \`holdfast migrate\``,
  );
}

/** Files that are not applied, in order. @throws StoreError when what is applied is not a beginning of `files` */
async function missingMigrations(sql: Queries, files: readonly MigrationFile[]): Promise<readonly MigrationFile[]> {
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from migrations order by name`;
  const known = new Map(files.map((file) => [file.name, file]));
  const unknown = rows.filter(({ name }) => !known.has(name));
  if (unknown.length > 0) {
    throw new StoreError(
      'database_newer',
      `the database has migration ${unknown.map(({ name }) => name).join(', ')}, which this version of Holdfast does not know; install the version that applied it, or a newer one`,
    );
  }
  const changed = rows.find(({ name, checksum }) => known.get(name)?.checksum !== checksum);
  if (changed !== undefined) {
    throw new StoreError(
      'migration_changed',
      `migration ${changed.name} was applied with other contents than this version's file (checksum ${changed.checksum.slice(0, 12)}, file ${known.get(changed.name)?.checksum.slice(0, 12) ?? ''}); restore the file and put the change into a new one`,
    );
  }
  const done = new Set(rows.map(({ name }) => name));
  return files.filter(({ name }) => !done.has(name));
}

async function createBookkeeping(sql: Database): Promise<void> {
  await sql.begin(async (transaction) => {
    // `if not exists` alone is not safe against a simultaneous creation.
    await takeLock(transaction);
    await transaction.unsafe(`
      create table if not exists migrations (
        name text primary key,
        checksum text not null,
        applied_at timestamptz not null default clock_timestamp()
      );
      comment on table migrations is 'Files of migrations/ that were applied to this database.';
      comment on column migrations.name is 'File name; the order of names is the order of application.';
      comment on column migrations.checksum is 'SHA-256 of the file, hexadecimal: an applied file must never change.';
      comment on column migrations.applied_at is 'When it was applied.';`);
  });
}

async function readMigrations(directory: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => MIGRATION_NAME.test(name)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      // A checkout with other line ends is the same migration.
      const text = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/** `migrations/` beside the package's `package.json`, from the sources and from `dist` alike. */
function packageMigrations(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'migrations'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('the package has no folder `migrations`: reinstall it');
    directory = parent;
  }
  return join(directory, 'migrations');
}
