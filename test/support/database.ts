import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import type { Sql } from 'postgres';
import { inject } from 'vitest';
import { AS_APPLICATION } from '../../src/local/postgres/postgres-login.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/database/migrate.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));
/** Any number, the same for all test processes: one of them makes the template. */
const TEMPLATE_LOCK = 7_465_321;

export interface TestDatabase {
  /** Connection URL whose connections run as `holdfast_app`; a transaction that needs more says `set local role none`. */
  readonly url: string;
  /** The same as a superuser. */
  readonly ownerUrl: string;
  /** Drops the database; fails when a connection to it was left open. */
  drop(): Promise<void>;
}

/** Named by its content, so that a server which outlives a run never serves an old schema. */
async function nameOfContent(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of (await readdir(MIGRATIONS)).toSorted())
    hash.update(file).update(await readFile(`${MIGRATIONS}/${file}`));
  return `holdfast_template_${hash.digest('hex').slice(0, 16)}`;
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function applyMigrations(server: string, database: string): Promise<void> {
  if ((await readdir(MIGRATIONS)).length === 0) return;
  const sql = connectDatabase({ url: databaseUrl(server, database) });
  try {
    await migrate(sql, MIGRATIONS);
  } finally {
    await sql.end();
  }
}

async function ensureTemplate(admin: Sql, server: string, template: string): Promise<void> {
  await admin`select pg_advisory_lock(${TEMPLATE_LOCK})`;
  try {
    const [existing] = await admin<
      { complete: boolean }[]
    >`select datistemplate as complete from pg_database where datname = ${template}`;
    if (existing?.complete === true) return;
    // Left half made by a run that was killed.
    await admin`drop database if exists ${admin(template)} with (force)`;
    await admin`create database ${admin(template)}`;
    await applyMigrations(server, template);
    // Tests look whether a session of the application waits.
    await admin`grant pg_read_all_stats to holdfast_app`;
    await admin`alter database ${admin(template)} is_template true`;
  } finally {
    await admin`select pg_advisory_unlock(${TEMPLATE_LOCK})`;
  }
}

/** By server, the template that this process has found or made there. */
const templates = new Map<string, string>();

async function templateOf(admin: Sql, server: string): Promise<string> {
  const known = templates.get(server);
  if (known !== undefined) return known;
  const template = await nameOfContent();
  await ensureTemplate(admin, server, template);
  templates.set(server, template);
  return template;
}

/** Copied as files, a database costs a third of what it does page by page through the log, the default since Postgres 15. */
async function copyStrategy(admin: Sql): Promise<string> {
  const [row] = await admin<{ version: number }[]>`select current_setting('server_version_num')::int as version`;
  return (row?.version ?? 0) >= 150_000 ? 'strategy file_copy' : '';
}

async function withAdmin<Result>(server: string, action: (admin: Sql) => Promise<Result>): Promise<Result> {
  const admin = postgres(server, { max: 1, fetch_types: false, onnotice: () => undefined });
  try {
    return await action(admin);
  } finally {
    await admin.end();
  }
}

const CLOSING_MILLISECONDS = 20_000;

/** A closed connection takes a moment to disappear; one that stays was leaked. */
async function openConnections(admin: Sql, database: string): Promise<string[]> {
  const end = Date.now() + CLOSING_MILLISECONDS;
  for (;;) {
    const rows = await admin<{ name: string; query: string }[]>`
      select application_name as name, left(query, 120) as query from pg_stat_activity
      where datname = ${database} and backend_type = 'client backend'`;
    if (rows.length === 0 || Date.now() > end) return rows.map(({ name, query }) => `${name}: ${query}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function newName(): string {
  return `holdfast_test_${randomBytes(8).toString('hex')}`;
}

/**
 * A migrated database of its own for a test file, cloned from a template that the first caller makes.
 * @param server URL of any of its databases. Default: the server that all test files share.
 */
export async function createTestDatabase(server: string = inject('databaseUrl')): Promise<TestDatabase> {
  const name = newName();
  await withAdmin(server, async (admin) => {
    const template = await templateOf(admin, server);
    await admin`create database ${admin(name)} template ${admin(template)} ${admin.unsafe(await copyStrategy(admin))}`;
  });
  return testDatabase(server, name);
}

function testDatabase(server: string, name: string): TestDatabase {
  return {
    url: `${databaseUrl(server, name)}${AS_APPLICATION}`,
    ownerUrl: databaseUrl(server, name),
    drop: async () => {
      await withAdmin(server, async (admin) => {
        const leaked = await openConnections(admin, name);
        await admin`drop database if exists ${admin(name)} with (force)`;
        if (leaked.length > 0) throw new Error(`${leaked.length} leaked connections:\n${leaked.join('\n')}`);
      });
    },
  };
}
