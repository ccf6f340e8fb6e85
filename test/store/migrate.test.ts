import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { connectDatabase } from '../../src/store/database.ts';
import type { Database } from '../../src/store/database.ts';
import { newId } from '../../src/store/ids.ts';
import { migrate, requireCurrentSchema } from '../../src/store/migrate.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));
const FIRST = '000001_conversations.sql';
/** Of a version after this one. */
const FUTURE = '999999_future.sql';

/** An empty database, a copy of the migrations to tamper with, and connections that the test opened. */
let directory: string;
let name: string;
let pools: Database[];

function connect(maximumConnections = 1): Database {
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  const sql = connectDatabase({ url: url.href, maximumConnections });
  pools.push(sql);
  return sql;
}

async function asAdmin(work: (admin: Database) => Promise<unknown>): Promise<void> {
  const admin = postgres(inject('databaseUrl'), { max: 1, onnotice: () => undefined });
  await work(admin);
  await admin.end();
}

/** What `holdfast migrate` of the next version leaves, seen from this one. */
async function migrateAsNewer(sql: Database, text: string): Promise<void> {
  await writeFile(join(directory, FUTURE), text);
  await migrate(sql, directory);
  await rm(join(directory, FUTURE));
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
    expect(await migrate(sql, directory)).toEqual({ applied: [], newer: [] });
    await requireCurrentSchema(sql, directory);
  });

  it('finds the folder of the package by itself', async () => {
    const sql = connect();
    await migrate(sql);
    await requireCurrentSchema(sql);
  });

  it('leaves nothing of a file that fails, and goes on from there when it is mended', async () => {
    const sql = connect();
    await writeFile(join(directory, '999999_broken.sql'), 'create table half (id int); select nonsense;');
    await expect(migrate(sql, directory)).rejects.toThrow('nonsense');
    expect(await sql`select to_regclass('half') as half`).toEqual([{ half: null }]);
    await writeFile(join(directory, '999999_broken.sql'), 'create table half (id int);');
    expect(await migrate(sql, directory)).toEqual({ applied: ['999999_broken.sql'], newer: [] });
  });

  it('refuses when an applied file was changed, and names it', async () => {
    const sql = connect();
    await migrate(sql, directory);
    await writeFile(join(directory, FIRST), `${await readFile(join(directory, FIRST), 'utf8')}\n-- changed\n`);
    await expect(migrate(sql, directory)).rejects.toMatchObject({ code: 'migration_changed' });
    await expect(requireCurrentSchema(sql, directory)).rejects.toThrow(FIRST);
  });

  it('takes a checkout with other line ends for the same file', async () => {
    const sql = connect();
    await migrate(sql, directory);
    const text = await readFile(join(directory, FIRST), 'utf8');
    await writeFile(join(directory, FIRST), text.replaceAll('\n', '\r\n'));
    await requireCurrentSchema(sql, directory);
  });

  it('works with a database that a newer version has migrated, and tells what is newer', async () => {
    const sql = connect();
    await migrateAsNewer(sql, 'create table future (id int);');
    expect(await migrate(sql, directory)).toEqual({ applied: [], newer: [FUTURE] });
    expect(await requireCurrentSchema(sql, directory)).toEqual({ newer: [FUTURE] });
  });

  it('refuses a database with a newer migration that says that older code cannot work with it', async () => {
    const sql = connect();
    await migrateAsNewer(sql, '-- Drops it.\n-- holdfast: needs-this-version\ncreate table future (id int);');
    await expect(migrate(sql, directory)).rejects.toMatchObject({ code: 'database_newer' });
    await expect(requireCurrentSchema(sql, directory)).rejects.toMatchObject({ code: 'database_newer' });
    await expect(requireCurrentSchema(sql, directory)).rejects.toThrow(FUTURE);
  });

  it('applies nothing behind a migration that it does not know, and still refuses changed ones', async () => {
    const sql = connect();
    await migrateAsNewer(sql, 'create table future (id int);');
    await writeFile(join(directory, '999998_own.sql'), 'create table own (id int);');
    await expect(migrate(sql, directory)).rejects.toMatchObject({ code: 'database_newer' });
    await expect(requireCurrentSchema(sql, directory)).rejects.toThrow('999998_own.sql');
    expect(await sql`select to_regclass('own') as own`).toEqual([{ own: null }]);
    await rm(join(directory, '999998_own.sql'));
    await writeFile(join(directory, FIRST), `${await readFile(join(directory, FIRST), 'utf8')}\n-- changed\n`);
    await expect(requireCurrentSchema(sql, directory)).rejects.toMatchObject({ code: 'migration_changed' });
  });

  it('refuses a directive that it does not know, before anything is applied', async () => {
    const sql = connect();
    await writeFile(join(directory, FUTURE), '-- holdfast: need-this-version\ncreate table future (id int);');
    await expect(migrate(sql, directory)).rejects.toThrow('need-this-version');
    expect(await sql`select to_regclass('migrations') as migrations`).toEqual([{ migrations: null }]);
  });

  it('reads a database that was migrated before `is_required`, and adds the column', async () => {
    const sql = connect();
    await migrate(sql, directory);
    await sql`alter table migrations drop column is_required`;
    expect(await requireCurrentSchema(sql, directory)).toEqual({ newer: [] });
    await writeFile(join(directory, FUTURE), '-- holdfast: needs-this-version\ncreate table future (id int);');
    expect(await migrate(sql, directory)).toEqual({ applied: [FUTURE], newer: [] });
    expect(await sql`select name from migrations where is_required`).toEqual([{ name: FUTURE }]);
  });

  it('says of an empty database, and of one that is behind, how to bring it up to date', async () => {
    const sql = connect();
    await expect(requireCurrentSchema(sql, directory)).rejects.toMatchObject({ code: 'database_behind' });
    await migrate(sql, directory);
    await writeFile(join(directory, '999999_next.sql'), 'create table next (id int);');
    await expect(requireCurrentSchema(sql, directory)).rejects.toThrow('holdfast migrate');
  });

  it('takes for read by a summary of earlier versions what stood in the request that it was asked behind', async () => {
    const sql = connect();
    const later = (await readdir(directory)).filter((file) => file >= '000048');
    await Promise.all(later.map(async (file) => rm(join(directory, file))));
    await migrate(sql, directory);
    const [conversationId, turnId, entryId] = [newId(), newId(), newId()];
    await sql.begin(async (open) => {
      await open`set local session_replication_role = replica`;
      await open`insert into conversations (id, agent, last_sequence) values (${conversationId}, 'a', 9)`;
      await open`
        insert into entries (id, conversation_id, sequence, branch, parent_id, kind, turn_id, epoch, content, measurements, sums)
        select case when n = 9 then ${entryId}::uuid else gen_random_uuid() end, ${conversationId}, n, 0, ${turnId}, 'user', ${turnId}, 1, '[]', no_measurements(), no_measurements()
        from generate_series(2, 9) as n`;
      for (const [number, prompt, covered] of [
        [1, 'working-summary.history@1', 3],
        [2, 'working-summary.shared-prefix@1', 4],
        [3, 'working-summary.history@1', 5],
      ] as const) {
        await open`
          insert into compactions (id, conversation_id, turn_id, epoch, call_number, reason, preset, form, plan, head_entry_id,
            first_kept_sequence, covered_through_sequence, tokens_before, tokens_after, status, number, marker_entry_id,
            committed_head_entry_id, summary, summary_measurements, prompt_version, view_after, finished_at, previous_id)
          select gen_random_uuid(), ${conversationId}, ${turnId}, 1, 1, 'manual', 'default', 'summary', '{}', ${entryId}, ${covered} + 1,
            ${covered}::int, 9, 1, 'committed', ${number}::int, ${entryId}, ${entryId}, '"told"', no_measurements(), ${prompt}, no_measurements(), now(),
            (select id from compactions where number = ${number} - 1)`;
      }
    });
    await cp(MIGRATIONS, directory, { recursive: true });
    await migrate(sql, directory);
    const rows = await sql<{ through: number }[]>`
      select read_through_sequence as through from compactions order by number`;
    expect(rows.map(({ through }) => through)).toEqual([3, 9, 9]);
  });

  it('knows from when to when the passages of a block were said that an earlier version indexed', async () => {
    const sql = connect();
    const later = (await readdir(directory)).filter((file) => file >= '000055');
    await Promise.all(later.map(async (file) => rm(join(directory, file))));
    await migrate(sql, directory);
    const conversationId = newId();
    await sql`insert into conversations (id, agent) values (${conversationId}, 'a')`;
    await sql`insert into search_agents (agent) values ('a')`;
    await sql`insert into search_progress (conversation_id) values (${conversationId})`;
    await sql`
      insert into search_blocks (conversation_number, agent_number, is_spoken)
      select p.number, a.number, spoken from search_progress p, search_agents a, unnest('{true,false}'::bool[]) as spoken order by spoken desc`;
    await sql`
      insert into passages (id, conversation_id, source_id, kind, character_offset, text, terms, words, created_at, said_at)
      select b.number * 4096 + t.place, ${conversationId}, gen_random_uuid(), 'user', 0, 'x', ''::tsvector, 1, t.created_at::timestamptz, t.said_at::timestamptz
      from search_blocks b, (values (0, '2026-02-01T00:00:00Z', null), (1, '2026-03-01T00:00:00Z', '2020-01-01T00:00:00Z'), (2, '2026-01-01T00:00:00Z', null)) as t (place, created_at, said_at)
      where b.is_spoken`;
    await cp(MIGRATIONS, directory, { recursive: true });
    await migrate(sql, directory);
    const rows = await sql`select earliest, latest from search_blocks order by is_spoken desc`;
    expect(rows).toEqual([
      { earliest: new Date('2020-01-01T00:00:00Z'), latest: new Date('2026-02-01T00:00:00Z') },
      { earliest: null, latest: null },
    ]);
  });

  it('knows the languages of an agent that an earlier version indexed, and those that one indexes afterwards', async () => {
    const sql = connect();
    const later = (await readdir(directory)).filter((file) => file >= '000057');
    await Promise.all(later.map(async (file) => rm(join(directory, file))));
    await migrate(sql, directory);
    const ids = [newId(), newId(), newId()];
    await sql`insert into conversations (id, agent) select *, 'a' from unnest(${ids}::uuid[])`;
    await sql`insert into search_agents (agent) values ('a'), ('b')`;
    await sql`
      insert into search_progress (conversation_id, languages)
      values (${ids[0] ?? ''}, '{german,english}'), (${ids[1] ?? ''}, '{english}'), (${ids[2] ?? ''}, '{}')`;
    await cp(MIGRATIONS, directory, { recursive: true });
    await migrate(sql, directory);
    const languages = () => sql`select languages from search_agents order by agent`;
    expect(await languages()).toEqual([{ languages: ['english', 'german'] }, { languages: [] }]);
    await sql`update search_progress set languages = '{danish,german}' where conversation_id = ${ids[2] ?? ''}`;
    expect(await languages()).toEqual([{ languages: ['danish', 'english', 'german'] }, { languages: [] }]);
  });

  it('knows which conversations an earlier version left unindexed, and how many passages its agents have', async () => {
    const sql = connect();
    const later = (await readdir(directory)).filter((file) => file >= '000075');
    await Promise.all(later.map(async (file) => rm(join(directory, file))));
    await migrate(sql, directory);
    const ids = [newId(), newId(), newId(), newId()].toSorted();
    await sql`
      insert into conversations (id, agent, last_sequence, compactions)
      select * from unnest(${ids}::uuid[], '{a,a,b,b}'::text[], '{3,3,3,0}'::int[], '{1,1,0,0}'::int[])`;
    await sql`insert into search_agents (agent) values ('a'), ('b')`;
    await sql`insert into search_progress values (${ids[0] ?? ''}, 3, 1, default, 5), (${ids[1] ?? ''}, 3, 0, default, 2)`;
    await cp(MIGRATIONS, directory, { recursive: true });
    await migrate(sql, directory);
    expect(await sql`select id from conversations where is_unindexed order by id`).toEqual(
      ids.slice(1, 3).map((id) => ({ id })),
    );
    const passages = () => sql`select passages::int from search_agents order by agent`;
    expect(await passages()).toEqual([{ passages: 7 }, { passages: 0 }]);
    await sql`insert into search_progress (conversation_id, passages) values (${ids[2] ?? ''}, 4)`;
    await sql`delete from search_progress where conversation_id = ${ids[0] ?? ''}`;
    expect(await passages()).toEqual([{ passages: 2 }, { passages: 4 }]);
  });

  it('comments every table, column, function and type', async () => {
    const sql = connect();
    await migrate(sql, directory);
    const bare = await sql`
      select c.relname || coalesce('.' || a.attname, '') as name
      from pg_class c
      left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'c')
        and (col_description(c.oid, a.attnum) is null or (c.relkind <> 'c' and obj_description(c.oid, 'pg_class') is null))
      union all
      select proname from pg_proc p
      where p.pronamespace = 'public'::regnamespace and obj_description(p.oid, 'pg_proc') is null and p.prokind <> 'a'
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`;
    expect(bare).toEqual([]);
  });

  it('works without the right to create extensions', async () => {
    const role = `role_${name}`;
    await asAdmin(async (admin) => {
      await admin`create role ${admin(role)} login password 'secret'`;
      await admin`drop database ${admin(name)}`;
      await admin`create database ${admin(name)}`;
      // Trusted extensions need CREATE on the database, which an ordinary role lacks.
      const own = postgres(inject('databaseUrl').replace(/\/[^/]*$/u, `/${name}`), { max: 1 });
      await own`grant all on schema public to ${own(role)}`;
      await own.end();
    });
    const url = new URL(inject('databaseUrl'));
    url.username = role;
    url.password = 'secret';
    url.pathname = `/${name}`;
    const limited = connectDatabase({ url: url.href, maximumConnections: 1 });
    await migrate(limited, directory);
    expect(await limited`select 1 from pg_extension where extname = 'pg_trgm'`).toEqual([]);
    await limited.end();
    await asAdmin(async (admin) => {
      await admin`drop database ${admin(name)}`;
      await admin`drop role ${admin(role)}`;
      await admin`create database ${admin(name)}`;
    });
  });
});
