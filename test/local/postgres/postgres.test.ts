import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { releaseDataDirectory } from '../../../src/local/leftovers.ts';
import { freePort } from '../../../src/local/ports.ts';
import { findPostgresBinaries, reachableBinaries } from '../../../src/local/postgres/postgres-binaries.ts';
import type { PostgresBinaries } from '../../../src/local/postgres/postgres-binaries.ts';
import { ensureDatabase, isReady, startPostgres } from '../../../src/local/postgres/postgres.ts';
import type { LocalPostgres } from '../../../src/local/postgres/postgres.ts';
import { userForPostgres } from '../../../src/local/postgres/unprivileged-user.ts';
import { createTestDatabase } from '../../support/database.ts';
import { temporaryDirectory } from '../../support/servers.ts';

// One set of data for all tests but those about making it: each start makes do with what the one before left.
let directory: string;
let dataDirectory: string;
let servers: LocalPostgres[] = [];
beforeAll(async () => {
  directory = await temporaryDirectory('postgres');
  dataDirectory = join(directory, 'data');
});
afterEach(async () => {
  await Promise.all(servers.map(async (server) => server.stop()));
  servers = [];
});
afterAll(async () => rm(directory, { recursive: true, force: true }));

async function start(from = dataDirectory, binaries?: PostgresBinaries): Promise<LocalPostgres> {
  const server = await startPostgres({
    ...(binaries === undefined ? {} : { binaries }),
    dataDirectory: from,
    port: await freePort(),
    durable: true,
    logFile: join(directory, 'log'),
  });
  servers.push(server);
  return server;
}

async function query(server: LocalPostgres, text: string): Promise<postgres.Row[]> {
  const sql = postgres(server.url('postgres'), { max: 1, onnotice: () => undefined });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end();
  }
}

describe('the embedded Postgres', () => {
  test('keeps what was committed when it is killed, and starts again', async () => {
    const first = await start();
    await query(first, 'create table kept as select 42 as answer');
    first.process.kill('SIGKILL');
    await first.process.exited;
    const second = await start();
    expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await second.stop();
  });

  test('starts over a postmaster.pid whose number now belongs to another program', async () => {
    const first = await start();
    await first.stop();
    // Of the same user: a program of another one Postgres knows not to be its own.
    const user = await userForPostgres();
    const stranger = spawn('sleep', ['60'], user === null ? {} : { uid: user.uid, gid: user.gid });
    await writeFile(join(dataDirectory, 'postmaster.pid'), `${stranger.pid}\n${dataDirectory}\n`);
    expect(await releaseDataDirectory(dataDirectory)).toBe(false);
    const second = await start();
    expect(stranger.exitCode).toBe(null);
    await second.stop();
    stranger.kill();
  });

  test('a server that outlived its starter is stopped before a new one starts', async () => {
    const orphan = await start();
    expect(await releaseDataDirectory(dataDirectory)).toBe(true);
    expect((await orphan.process.exited).status).toBe(0);
    const second = await start();
    await second.stop();
  });

  test('an initialisation that was cut off leaves nothing that looks whole', async () => {
    const fresh = join(directory, 'fresh');
    await mkdir(`${fresh}.new/base`, { recursive: true });
    await writeFile(`${fresh}.new/PG_VERSION`, '18\n');
    const server = await start(fresh);
    expect(await query(server, 'select 1 as one')).toEqual([{ one: 1 }]);
    await expect(stat(`${fresh}.new`)).rejects.toThrow('ENOENT');
  });

  test('data of another major version is refused with what to do', async () => {
    const older = join(directory, 'older');
    await mkdir(older);
    await writeFile(join(older, 'PG_VERSION'), '17\n');
    await expect(start(older)).rejects.toMatchObject({
      code: 'postgres_version',
      message: /Postgres 17; Holdfast brings 18/,
    });
  });

  test('a port that another program took is a readable error, and nothing is left running', async () => {
    const first = await start();
    const starting = startPostgres({ dataDirectory: join(directory, 'fresh'), port: first.port, durable: false });
    await expect(starting).rejects.toMatchObject({
      code: 'postgres_failed',
      message: new RegExp(`port ${first.port}`),
    });
    await first.stop();
  });

  test('wants its password, which only the owner of the data can read and the log does not tell', async () => {
    const server = await start();
    const url = new URL(server.url('postgres'));
    const { password } = url;
    const { mode } = await stat(join(dataDirectory, 'holdfast-password'));
    expect(mode & 0o077).toBe(0);
    url.password = 'guessed';
    const sql = postgres(url.href, { max: 1 });
    await expect(sql`select 1`).rejects.toThrow('password authentication failed');
    await sql.end();
    await server.stop();
    expect(await readFile(join(directory, 'log'), 'utf8')).not.toContain(password);
  });

  test('orders and folds text the same on every machine, and pg_trgm knows the letters of all scripts; a database is created once, also by two at once', async () => {
    const server = await start();
    expect(await query(server, `select upper('äñ') as upper, current_setting('TimeZone') as zone`)).toEqual([
      { upper: 'ÄÑ', zone: 'UTC' },
    ]);
    await query(server, 'create extension if not exists pg_trgm');
    for (const word of ['новосибирск', 'θεσσαλονίκη', 'երևան', 'بغداد'])
      expect(await query(server, `select cardinality(show_trgm('${word}')) > 4 as knows`)).toEqual([{ knows: true }]);
    await Promise.all([ensureDatabase(server, 'twice'), ensureDatabase(server, 'twice')]);
    const rows = await query(server, `select count(*)::int as count from pg_database where datname = 'twice'`);
    expect(rows).toEqual([{ count: 1 }]);
  });

  test.each([
    ['C.UTF-8 en_US.UTF-8', 'C'],
    ['en_US.UTF-8', 'C.UTF-8'],
  ])('starts on a system without the locale %s', async (missing, chosen) => {
    const lacking = join(directory, `lacking ${missing}`);
    await mkdir(lacking);
    const binaries = await reachableBinaries(await findPostgresBinaries(), await userForPostgres());
    const initdb = join(lacking, 'initdb');
    const refusals = missing
      .split(' ')
      .map((name) => `*--lc-ctype=${name}*) echo 'initdb: error: invalid locale name "${name}"'; exit 1;;`);
    await writeFile(initdb, `#!/bin/sh\ncase "$*" in\n${refusals.join('\n')}\nesac\nexec '${binaries.initdb}' "$@"\n`, {
      mode: 0o755,
    });
    const server = await start(join(lacking, 'data'), { ...binaries, initdb });
    expect(await query(server, `select datctype from pg_database where datname = 'postgres'`)).toEqual([
      { datctype: chosen },
    ]);
    await server.stop();
  });

  test('is ready only when the file names this very process', () => {
    const file = ['4711', '/data', '0', '5432', '', '127.0.0.1', '1 2', 'ready   ', ''].join('\n');
    expect(isReady(file, 4711)).toBe(true);
    expect(isReady(file, 4712)).toBe(false);
    expect(isReady(file.replace('ready', 'starting'), 4711)).toBe(false);
    expect(isReady('', 4711)).toBe(false);
  });
});

describe('databases for tests', () => {
  test('are cloned, used and dropped', async () => {
    const database = await createTestDatabase();
    const sql = postgres(database.url, { max: 1 });
    const [row] = await sql<{ found: boolean }[]>`select to_regclass('holdfast.entries') is not null as found`;
    expect(row?.found).toBe(true);
    await sql.end();
    await database.drop();
    const admin = postgres(inject('databaseUrl'), { max: 1 });
    const name = new URL(database.url).pathname.slice(1);
    expect(await admin`select 1 from pg_database where datname = ${name}`).toHaveLength(0);
    await admin.end();
  });

  test('report a connection that was left open', async () => {
    const database = await createTestDatabase();
    const sql = postgres(database.url, { max: 1 });
    await sql`select 1`;
    await expect(database.drop()).rejects.toThrow('1 leaked connection');
    await sql.end();
  });
});
