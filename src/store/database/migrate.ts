import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database, Queries, Transaction } from './database.ts';
import { StoreError } from './errors.ts';
import {
  becomeOwner,
  createBookkeeping,
  databaseDiffers,
  grantRights,
  openExtensions,
  takeLock,
} from './migration-ledger.ts';
import { describeColumns } from './column-comments.ts';
import { divideTables, requirePartitions } from './partitions.ts';

export interface MigrationResult {
  readonly applied: readonly string[];
}

interface MigrationFile {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

type AppliedMigration = Pick<MigrationFile, 'name' | 'checksum'>;

/** Files are numbered so that their names sort in order of application. */
const MIGRATION_NAME = /^\d{6}_[a-z0-9_]+\.sql$/u;
/** Applied only where it is asked for, because Holdfast works without pgvector. */
const EMBEDDINGS = 'embeddings.sql';

/**
 * Applies what is missing of `migrations/`, each file in a transaction of its own under one
 * advisory lock, so that any number of processes may call it at once.
 * @param directory Default: the `migrations` folder of this package.
 * @param partitions into which the large tables are divided when they are made. Default: they are whole
 * @throws StoreError `database_differs`, `database_unsupported` (also: the tables stand, and are not so divided)
 */
export async function migrate(
  sql: Database,
  directory = packageMigrations(),
  partitions?: number,
): Promise<MigrationResult> {
  const files = await readMigrations(directory);
  await createBookkeeping(sql);
  const applied: string[] = [];
  for (const file of files) {
    if (file.name === EMBEDDINGS) continue;
    const described = describeColumns(file.text);
    const text = partitions === undefined ? described : divideTables(described, partitions);
    await sql.begin(async (transaction) => {
      await takeLock(transaction);
      if (await applyOnce(transaction, { ...file, text }, files)) applied.push(file.name);
    });
  }
  await grantRights(sql);
  if (partitions !== undefined) await requirePartitions(sql, partitions);
  return { applied };
}

/** Becomes the owner of the schema, in which the file is applied unless it was. Under the lock, which ends with the transaction. */
async function applyOnce(
  transaction: Transaction,
  { name, text, checksum }: MigrationFile,
  files: readonly MigrationFile[],
): Promise<boolean> {
  const missing = findMissing(await readApplied(transaction), files);
  await becomeOwner(transaction);
  if (!missing.some((file) => file.name === name)) return false;
  await transaction.unsafe(text);
  await transaction`insert into holdfast.migrations (name, checksum) values (${name}, ${checksum})`;
  return true;
}

/**
 * Makes the table of vectors and an index for vectors of so many dimensions; those that are there stay.
 * @param dimensions of the vectors of the configured model, from 1 to 2,000, the most that pgvector indexes.
 * @throws StoreError `pgvector_missing`, `database_behind`, `database_differs`
 */
export async function migrateEmbeddings(
  sql: Database,
  dimensions: number,
  directory = packageMigrations(),
): Promise<void> {
  await requireCurrentSchema(sql, directory);
  const files = await readMigrations(directory);
  const file = files.find(({ name }) => name === EMBEDDINGS);
  if (file === undefined) throw new Error(`the folder of migrations has no ${EMBEDDINGS}: reinstall the package`);
  await sql.begin(async (transaction) => {
    await takeLock(transaction);
    const [extension] = await transaction`
      select from pg_available_extension_versions
      where name = 'vector' and string_to_array(version, '.')::int[] >= '{0,8}' limit 1`;
    if (extension === undefined) {
      throw new StoreError(
        'pgvector_missing',
        'this Postgres has no extension `vector` of version 0.8 or newer: install pgvector on its server, then run the command again',
      );
    }
    await transaction`create extension if not exists vector with schema holdfast`;
    await openExtensions(transaction);
    await applyOnce(transaction, { ...file, text: describeColumns(file.text) }, files);
    await transaction.unsafe(`
      create index if not exists embeddings_by_meaning_${dimensions} on embeddings
        using hnsw ((embedding::vector(${dimensions})) vector_ip_ops) where vector_dims(embedding) = ${dimensions}`);
  });
}

/**
 * Checks without writing that the database has exactly the migrations of this version; those of vectors it may lack.
 * @throws StoreError `database_behind`, `database_differs`
 */
export async function requireCurrentSchema(sql: Queries, directory = packageMigrations()): Promise<void> {
  const files = await readMigrations(directory);
  const [bookkeeping] = await sql<
    { exists: boolean }[]
  >`select to_regclass('holdfast.migrations') is not null as exists`;
  const applied = bookkeeping?.exists === true ? await readApplied(sql) : [];
  const missing = findMissing(applied, files).filter(({ name }) => name !== EMBEDDINGS);
  if (missing.length === 0) return;
  throw new StoreError(
    'database_behind',
    `the database lacks ${missing.length} migrations of this version, from ${missing[0]?.name ?? ''} on; apply them with \`holdfast db migrate\``,
  );
}

async function readApplied(sql: Queries): Promise<readonly AppliedMigration[]> {
  return sql<AppliedMigration[]>`select name, checksum from holdfast.migrations order by name`;
}

function findMissing(applied: readonly AppliedMigration[], files: readonly MigrationFile[]): readonly MigrationFile[] {
  const checksums = new Map(files.map(({ name, checksum }) => [name, checksum]));
  const foreign = applied.find(({ name, checksum }) => checksums.get(name) !== checksum);
  if (foreign !== undefined) throw databaseDiffers(foreign.name);
  const done = new Set(applied.map(({ name }) => name));
  return files.filter(({ name }) => !done.has(name));
}

async function readMigrations(directory: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => MIGRATION_NAME.test(name) || name === EMBEDDINGS);
  return Promise.all(
    names.toSorted().map(async (name) => {
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
