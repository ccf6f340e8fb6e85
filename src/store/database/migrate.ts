import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database, Queries } from './database.ts';
import { StoreError } from './errors.ts';
import {
  becomeOwner,
  createBookkeeping,
  grantRights,
  openExtensions,
  refuseUnversioned,
  takeLock,
} from './migration-ledger.ts';
import { divideTables, requirePartitions } from './partitions.ts';

export interface MigrationResult {
  /** Names of the files applied now, in order; empty when the database was current. */
  readonly applied: readonly string[];
  /** Names of what a newer version applied, which this one can work with; almost always empty. */
  readonly newer: readonly string[];
}

interface MigrationFile {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /** Code that does not know the file cannot work with the schema that it leaves. */
  readonly isRequired: boolean;
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly isRequired: boolean;
}

/** What the database has, against the files of this version. */
interface SchemaDifference {
  /** Files that are not applied, in order. */
  readonly missing: readonly MigrationFile[];
  /** What a newer version applied and this one can work with. */
  readonly newer: readonly string[];
}

/** Files are numbered so that their names sort in order of application. */
const MIGRATION_NAME = /^\d{6}_[a-z0-9_]+\.sql$/u;

/** A line of its own in a migration that says something to `migrate`. */
const DIRECTIVE = /^--[ \t]*holdfast:[ \t]*(?<word>.*?)[ \t]*$/gmu;
const NEEDS_THIS_VERSION = 'needs-this-version';

/**
 * Applies what is missing of `migrations/`, each file in a transaction of its own under one
 * advisory lock, so that any number of processes may call it at once. Of an older version than the
 * database's it applies nothing.
 * @param directory Default: the `migrations` folder of this package.
 * @param partitions into which the large tables are divided when they are made. Default: they are whole
 * @throws StoreError `database_newer`, `database_unsupported` (also: the tables stand, and are not so divided), `migration_changed`
 */
export async function migrate(
  sql: Database,
  directory = packageMigrations(),
  partitions?: number,
): Promise<MigrationResult> {
  const files = await readMigrations(directory);
  await createBookkeeping(sql);
  const applied: string[] = [];
  for (const file of files) if (await applyOnce(sql, file, files, partitions)) applied.push(file.name);
  await grantRights(sql);
  if (partitions !== undefined) await requirePartitions(sql, partitions);
  return { applied, newer: compareSchema(await readApplied(sql), files).newer };
}

/** True when this call applied the file; the lock ends with the transaction, whatever happens. */
async function applyOnce(
  sql: Database,
  file: MigrationFile,
  files: readonly MigrationFile[],
  partitions?: number,
): Promise<boolean> {
  let applied = false;
  await sql.begin(async (transaction) => {
    await takeLock(transaction);
    const { missing } = compareSchema(await readApplied(transaction), files);
    if (!missing.some(({ name }) => name === file.name)) return;
    await becomeOwner(transaction);
    await transaction.unsafe(partitions === undefined ? file.text : divideTables(file.text, partitions));
    await transaction`
      insert into holdfast.migrations (name, checksum, is_required) values (${file.name}, ${file.checksum}, ${file.isRequired})`;
    applied = true;
  });
  return applied;
}

/**
 * Makes the table of vectors and an index for vectors of so many dimensions; those that are there stay. Apart from the numbered
 * files, because Holdfast works without pgvector.
 * @param dimensions of the vectors of the configured model, from 1 to 2,000, the most that pgvector indexes.
 * @throws StoreError `pgvector_missing`, `database_behind`, `database_newer`, `database_unsupported`, `migration_changed`
 */
export async function migrateEmbeddings(
  sql: Database,
  dimensions: number,
  directory = packageMigrations(),
): Promise<void> {
  await requireCurrentSchema(sql, directory);
  const text = await readFile(join(directory, 'embeddings.sql'), 'utf8');
  await sql.begin(async (transaction) => {
    await takeLock(transaction);
    const [extension] = await transaction`select from pg_available_extensions where name = 'vector'`;
    if (extension === undefined) {
      throw new StoreError(
        'pgvector_missing',
        'this Postgres has no extension `vector`: install pgvector on its server, then run the command again',
      );
    }
    await transaction`create extension if not exists vector with schema holdfast`;
    await openExtensions(transaction);
    await becomeOwner(transaction);
    await transaction.unsafe(text);
    await transaction.unsafe(`
      create index if not exists embeddings_by_meaning_${dimensions} on embeddings
        using hnsw ((embedding::vector(${dimensions})) vector_cosine_ops) where vector_dims(embedding) = ${dimensions}`);
  });
}

/**
 * Checks without writing that this version can work with the database: it has all of this version's
 * migrations, and none of a newer version that says that older code cannot work with it.
 * @returns names of what a newer version applied; almost always empty
 * @throws StoreError `database_behind`, `database_newer`, `database_unsupported`, `migration_changed`
 */
export async function requireCurrentSchema(
  sql: Queries,
  directory = packageMigrations(),
): Promise<{ readonly newer: readonly string[] }> {
  const files = await readMigrations(directory);
  await refuseUnversioned(sql);
  const [bookkeeping] = await sql<
    { exists: boolean }[]
  >`select to_regclass('holdfast.migrations') is not null as exists`;
  const { missing, newer } = compareSchema(bookkeeping?.exists === true ? await readApplied(sql) : [], files);
  if (missing.length === 0) return { newer };
  throw new StoreError(
    'database_behind',
    `the database lacks ${missing.length} of ${files.length} migrations, from ${missing[0]?.name ?? ''} on; apply them with \`holdfast db migrate\``,
  );
}

/**
 * For what must know every table and column: an older version would copy a conversation without what a newer one added.
 * @throws StoreError `database_behind`, `database_newer`, `migration_changed`
 */
export async function requireOwnSchema(sql: Queries): Promise<void> {
  const { newer } = await requireCurrentSchema(sql);
  if (newer.length === 0) return;
  throw new StoreError(
    'database_newer',
    `the database has migration ${newer.join(', ')}, which this version of Holdfast does not know: a file of it would leave out what that added; use the version that applied it, or a newer one`,
  );
}

/** In the order of application. */
async function readApplied(sql: Queries): Promise<readonly AppliedMigration[]> {
  return sql<AppliedMigration[]>`
    select name, checksum, is_required as "isRequired" from holdfast.migrations order by name`;
}

/** @throws StoreError when this version can neither work with what is applied nor go on from it */
function compareSchema(applied: readonly AppliedMigration[], files: readonly MigrationFile[]): SchemaDifference {
  const known = new Map(files.map((file) => [file.name, file]));
  const done = new Set(applied.map(({ name }) => name));
  const missing = files.filter(({ name }) => !done.has(name));
  const unknown = applied.filter(({ name }) => !known.has(name));
  refuseNewer(unknown, missing);
  const changed = applied.find(({ name, checksum }) => known.has(name) && known.get(name)?.checksum !== checksum);
  if (changed !== undefined) {
    throw new StoreError(
      'migration_changed',
      `migration ${changed.name} was applied with other contents than this version's file (checksum ${changed.checksum.slice(0, 12)}, file ${known.get(changed.name)?.checksum.slice(0, 12) ?? ''}): if an unreleased version made this database, use an empty one, for example a new \`holdfast dev\` folder; if you changed the file, restore it and put the change into a new one`,
    );
  }
  return { missing, newer: unknown.map(({ name }) => name) };
}

/**
 * Migrations only add, so older code works behind those of a newer version, unless one says that it
 * cannot. It never applies its own behind them: nobody has tried that order.
 */
function refuseNewer(unknown: readonly AppliedMigration[], missing: readonly MigrationFile[]): void {
  const required = unknown.filter(({ isRequired }) => isRequired);
  if (required.length > 0) {
    throw new StoreError(
      'database_newer',
      `the database has migration ${namesOf(required)}, which this version of Holdfast does not know and cannot work with; install the version that applied it, or a newer one`,
    );
  }
  if (unknown.length > 0 && missing.length > 0) {
    throw new StoreError(
      'database_newer',
      `the database has migration ${namesOf(unknown)} of a newer version of Holdfast, but lacks ${namesOf(missing)} of this one; run \`holdfast db migrate\` of a version that has all of them`,
    );
  }
}

function namesOf(migrations: readonly { readonly name: string }[]): string {
  return migrations.map(({ name }) => name).join(', ');
}

async function readMigrations(directory: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => MIGRATION_NAME.test(name)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      // A checkout with other line ends is the same migration.
      const text = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n');
      return {
        name,
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
        isRequired: needsThisVersion(name, text),
      };
    }),
  );
}

/** A directive with a slip of the pen must not pass for a comment: older workers would go on over a schema that breaks them. */
function needsThisVersion(name: string, text: string): boolean {
  const words = [...text.matchAll(DIRECTIVE)].map((match) => match.groups?.['word'] ?? '');
  const strange = words.find((word) => word !== NEEDS_THIS_VERSION);
  if (strange !== undefined)
    throw new Error(
      `migration ${name}: "-- holdfast: ${strange}" is no directive; the only one is "-- holdfast: ${NEEDS_THIS_VERSION}"`,
    );
  return words.length > 0;
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
