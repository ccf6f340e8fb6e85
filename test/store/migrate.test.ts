import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { AS_APPLICATION } from '../../src/local/postgres/postgres-login.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { deleteConversation } from '../../src/store/conversations/delete-conversation.ts';
import { newId } from '../../src/store/database/ids.ts';
import { migrate, requireCurrentSchema } from '../../src/store/database/migrate.ts';
import { endedAs, startTurn, step } from './support/store-builders.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));
const FIRST = '000001_foundation.sql';
/** Of a version after this one. */
const FUTURE = '999999_future.sql';

/** An empty database, a copy of the migrations to tamper with, and connections that the test opened. */
let directory: string;
let name: string;
let pools: Database[];

function connect(maximumConnections = 1, parameters = ''): Database {
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  const sql = connectDatabase({ url: `${url.href}${parameters}`, maximumConnections });
  pools.push(sql);
  return sql;
}

async function asAdmin(work: (admin: Database) => Promise<unknown>): Promise<void> {
  const admin = postgres(inject('databaseUrl'), { max: 1, onnotice: () => undefined });
  await work(admin);
  await admin.end();
}

beforeEach(async () => {
  pools = [];
  name = `holdfast_migrate_${newId().replaceAll('-', '')}`;
  directory = await mkdtemp(join(tmpdir(), 'holdfast-migrations-'));
  await cp(MIGRATIONS, directory, { recursive: true });
  await asAdmin((admin) => admin`create database ${admin(name)}`);
});

afterEach(async () => {
  await Promise.all(pools.map((sql) => sql.end()));
  await asAdmin((admin) => admin`drop database ${admin(name)}`);
  await rm(directory, { recursive: true });
});

describe('migrate', () => {
  it('applies each file once when 20 processes migrate at the same time', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => migrate(connect(), directory)));
    const applied = results.flatMap((result) => result.applied);
    expect(applied.toSorted()).toEqual([...new Set(applied)].toSorted());
    const rows = await connect()<{ name: string }[]>`select name from migrations order by name`;
    expect(rows.map((row) => row.name)).toEqual(applied.toSorted());
    expect(applied).toContain(FIRST);
  });

  it('does nothing the second time', async () => {
    const sql = connect();
    await migrate(sql, directory);
    expect(await migrate(sql, directory)).toEqual({ applied: [] });
    await requireCurrentSchema(sql, directory);
  });

  it('finds the folder of the package by itself', async () => {
    const sql = connect();
    await migrate(sql);
    await requireCurrentSchema(sql);
  });

  it('calls an extension wherever it lies, and nothing that somebody created in public', async () => {
    const sql = connect();
    const planted = "language plpgsql as $$ begin raise exception 'planted'; end $$";
    await sql.unsafe(`
      create schema extensions;
      create extension pg_trgm schema extensions;
      create function public.pg_has_role(name, text, text) returns boolean ${planted};
      create function public.hashtextextended(text, integer) returns bigint ${planted}`);
    await writeFile(join(directory, FUTURE), `select hashtextextended('a', 0), similarity('heron', 'herons');`);
    await migrate(sql, directory);
    const [row] = await connect(1, AS_APPLICATION)`
      select hashtextextended('a', 0)::text as hash, 'heron' % 'herons' as similar`;
    expect(row).toMatchObject({ hash: expect.stringMatching(/\d/u), similar: true });
  });

  it('leaves nothing of a file that fails, and goes on from there when it is mended', async () => {
    const sql = connect();
    await writeFile(join(directory, '999999_broken.sql'), 'create table half (id int); select nonsense;');
    await expect(migrate(sql, directory)).rejects.toThrow('nonsense');
    expect(await sql`select to_regclass('half') as half`).toEqual([{ half: null }]);
    await writeFile(join(directory, '999999_broken.sql'), 'create table half (id int);');
    expect(await migrate(sql, directory)).toEqual({ applied: ['999999_broken.sql'] });
  });

  it('takes a checkout with other line ends for the same file', async () => {
    const sql = connect();
    await migrate(sql, directory);
    const text = await readFile(join(directory, FIRST), 'utf8');
    await writeFile(join(directory, FIRST), text.replaceAll('\n', '\r\n'));
    await requireCurrentSchema(sql, directory);
  });

  it('refuses a database that another version made or changed, names the migration, and applies nothing', async () => {
    const sql = connect();
    await writeFile(join(directory, FUTURE), 'create table future (id int);');
    await migrate(sql, directory);
    await rm(join(directory, FUTURE));
    await writeFile(join(directory, '999998_own.sql'), 'create table own (id int);');
    const refusal = (name: string) => ({ code: 'database_differs', message: expect.stringContaining(name) });
    await expect(migrate(sql, directory)).rejects.toMatchObject(refusal(FUTURE));
    await expect(requireCurrentSchema(sql, directory)).rejects.toMatchObject(refusal(FUTURE));
    expect(await sql`select to_regclass('own') as own`).toEqual([{ own: null }]);
    await writeFile(join(directory, FIRST), `${await readFile(join(directory, FIRST), 'utf8')}\n-- changed\n`);
    await expect(requireCurrentSchema(sql, directory)).rejects.toMatchObject(refusal(FIRST));
  });

  it('says of an empty database, and of one that is behind, how to bring it up to date', async () => {
    const sql = connect();
    await expect(requireCurrentSchema(sql, directory)).rejects.toMatchObject({ code: 'database_behind' });
    await migrate(sql, directory);
    await writeFile(join(directory, '999999_next.sql'), 'create table next (id int);');
    await expect(requireCurrentSchema(sql, directory)).rejects.toThrow('holdfast db migrate');
  });

  it('divides the tables that grow with each step, when they are made and at no other time', async () => {
    const sql = connect();
    await migrate(sql, directory, 4);
    expect(await migrate(sql, directory, 4)).toEqual({ applied: [] });
    const turn = await startTurn(sql);
    await step(sql, turn, 1);
    await endedAs(sql, turn);
    const rows = await sql<{ table: string; partitions: number; rows: number }[]>`
      select p.relname as table, count(*)::int as partitions,
        sum((xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %s', i.inhrelid::regclass), true, true, '')))[1]::text::int)::int as rows
      from pg_inherits i join pg_class p on p.oid = i.inhparent and p.relkind = 'p'
      group by 1 order by 1`;
    expect(rows).toEqual([
      { table: 'content_pieces', partitions: 4, rows: 0 },
      { table: 'entries', partitions: 4, rows: 3 },
      { table: 'events', partitions: 4, rows: 6 },
      { table: 'model_attempts', partitions: 4, rows: 1 },
      { table: 'tool_calls', partitions: 4, rows: 1 },
    ]);
    await deleteConversation(sql, turn.conversationId);
    expect(await sql`select from entries union all select from events`).toEqual([]);
    await expect(migrate(sql, directory, 8)).rejects.toMatchObject({ code: 'database_unsupported' });
  });

  it('comments every table, column, type, function, operator and trigger', async () => {
    const sql = connect();
    await migrate(sql, directory);
    const bare = await sql`
      select c.relname || coalesce('.' || a.attname, '') as name
      from pg_class c
      left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'v', 'c')
        and (col_description(c.oid, a.attnum) is null or (c.relkind <> 'c' and obj_description(c.oid, 'pg_class') is null))
      union all
      select proname from pg_proc p
      where p.pronamespace = 'holdfast'::regnamespace and obj_description(p.oid, 'pg_proc') is null
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      union all
      select oprname from pg_operator o
      where o.oprnamespace = 'holdfast'::regnamespace and obj_description(o.oid, 'pg_operator') is null
        and not exists (select from pg_depend d where d.objid = o.oid and d.deptype = 'e')
      union all
      select tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = 'holdfast'::regnamespace and not t.tgisinternal and obj_description(t.oid, 'pg_trigger') is null`;
    expect(bare).toEqual([]);
  });

  /** A login of its own in an empty database, whose schema is the login's. */
  async function withPlainLogin(prepare: string, use: (plain: Database) => Promise<void>): Promise<void> {
    const role = `role_${name}`;
    await asAdmin(async (admin) => {
      await admin`create role ${admin(role)} login password 'secret'`;
      await admin`drop database ${admin(name)}`;
      await admin`create database ${admin(name)}`;
      const own = postgres(inject('databaseUrl').replace(/\/[^/]*$/u, `/${name}`), { max: 1 });
      await own`create schema holdfast authorization ${own(role)}`;
      await own.unsafe(prepare);
      await own.end();
    });
    const url = new URL(inject('databaseUrl'));
    url.username = role;
    url.password = 'secret';
    url.pathname = `/${name}`;
    const plain = connectDatabase({ url: url.href, maximumConnections: 1 });
    try {
      await use(plain);
    } finally {
      await plain.end();
      await asAdmin(async (admin) => {
        await admin`drop database ${admin(name)}`;
        await admin`drop role ${admin(role)}`;
        await admin`create database ${admin(name)}`;
      });
    }
  }

  it('says what an administrator has to do where it may not create pg_trgm', async () => {
    // Trusted extensions need CREATE on the database, which an ordinary role lacks.
    await withPlainLogin('', (plain) => expect(migrate(plain, directory)).rejects.toThrow(/create extension pg_trgm/u));
  });

  it('lets a login that owns everything delete, beside the roles of another database of the server', async () => {
    // Roles are the server's: whoever may create them has done so, in another database.
    const other = connect();
    await migrate(other, directory);
    await other.end();
    await withPlainLogin('create extension pg_trgm with schema holdfast', async (plain) => {
      await migrate(plain, directory);
      const turn = await startTurn(plain);
      await endedAs(plain, turn);
      await deleteConversation(plain, turn.conversationId);
      expect(await plain`select from conversations`).toHaveLength(0);
    });
  });
});
