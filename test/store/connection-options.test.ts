import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, test, inject, onTestFinished } from 'vitest';
import fc from 'fast-check';
import { readConnectionOptions } from '../../src/store/database/connection-options.ts';
import { TEST_AUTHORITY } from '../support/tls-postgres.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { openDatabase, requireNotifications } from '../../src/store/database/pooler.ts';
import { isOutage } from '../../src/store/database/errors.ts';
import { useTestStore } from './support/store-builders.ts';

const read = (url: string, environment: Record<string, string> = {}) => readConnectionOptions(url, environment);

describe('connection strings as providers show them', () => {
  test.each([
    [
      'Neon',
      'postgresql://neondb_owner:npg_x@ep-cool-1234-pooler.eu-central-1.aws.neon.tech/neondb?sslmode=require&channel_binding=require',
      { host: ['ep-cool-1234-pooler.eu-central-1.aws.neon.tech'], port: [5432], database: 'neondb', pooled: false },
      1,
    ],
    [
      'RDS',
      `postgres://holdfast:p%40ss%2Fword@db.abc.eu-west-1.rds.amazonaws.com:5432/holdfast?sslmode=verify-full&sslrootcert=${TEST_AUTHORITY}`,
      { user: 'holdfast', pass: 'p@ss/word', database: 'holdfast', ssl: { rejectUnauthorized: true } },
      0,
    ],
    [
      'Supabase, transaction pooler',
      'postgresql://postgres.abcdefgh:secret@aws-0-eu-central-1.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1',
      { user: 'postgres.abcdefgh', port: [6543], pooled: true },
      1,
    ],
    [
      'Cloud SQL, Unix socket',
      'postgres://holdfast:secret@/holdfast?host=/cloudsql/project:region:instance',
      { path: '/cloudsql/project:region:instance/.s.PGSQL.5432', database: 'holdfast', ssl: false },
      0,
    ],
    [
      'Prisma',
      'postgresql://me:secret@localhost:5432/app?schema=public&sslmode=disable',
      { host: ['localhost'], ssl: false },
      1,
    ],
    [
      'several hosts',
      'postgres://me@one:5433,[::1]:5434/app?target_session_attrs=read-write&gssencmode=disable&connect_timeout=5',
      { host: ['one', '::1'], port: [5433, 5434], target_session_attrs: 'read-write', connect_timeout: 5 },
      0,
    ],
  ])('%s', (_, url, expected, warnings) => {
    const options = read(url);
    expect(options).toMatchObject(expected);
    expect(options.warnings).toHaveLength(warnings);
  });
});

test('what the address does not say comes from the PG variables, which the address wins over', () => {
  const environment = {
    PGHOST: 'db',
    PGPORT: '6000',
    PGUSER: 'me',
    PGPASSWORD: 'p',
    PGDATABASE: 'app',
    PGSSLMODE: 'disable',
  };
  expect(read('postgres://', environment)).toMatchObject({
    host: ['db'],
    port: [6000],
    user: 'me',
    pass: 'p',
    database: 'app',
    ssl: false,
  });
  expect(read('postgres://you@here/other?sslmode=require', environment)).toMatchObject({
    host: ['here'],
    user: 'you',
    database: 'other',
    ssl: { rejectUnauthorized: false },
  });
});

test('settings of `options` are sent after connecting, and the rest in the startup packet', () => {
  const options = encodeURIComponent('-c role=holdfast_app --work-mem=4MB -cstatement_timeout=5s endpoint=ep-cool\\ 1');
  expect(read(`postgres://localhost/app?options=${options}`)).toMatchObject({
    settings: { role: 'holdfast_app', work_mem: '4MB', statement_timeout: '5s' },
    startupOptions: 'endpoint=ep-cool 1',
  });
});

test.each([
  ['prefer', 'prefer'],
  ['allow', 'prefer'],
  ['disable', false],
  ['require', { rejectUnauthorized: false, checkServerIdentity: expect.any(Function) }],
  ['verify-ca', { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
  ['verify-full', { rejectUnauthorized: true }],
])('sslmode=%s has the meaning that libpq gives it', (mode, ssl) => {
  expect(read(`postgres://localhost/app?sslmode=${mode}`).ssl).toEqual(ssl);
});

test('sslmode=require beside a root certificate checks the certificate', () => {
  const { ssl } = read(`postgres://localhost/app?sslmode=require&sslrootcert=${TEST_AUTHORITY}`);
  expect(ssl).toMatchObject({ rejectUnauthorized: true, ca: expect.stringContaining('BEGIN CERTIFICATE') });
});

test.each([
  ['postgres://me:secret@host/db?sslmode=on', 'sslmode'],
  ['postgres://me:secret@host/db?sslrootcert=/nowhere.pem&sslmode=verify-ca', 'sslrootcert'],
  ['postgres://me:secret@host/db?sslcrl=/crl.pem', 'sslcrl'],
  ['postgres://me:secret@host/db?statement_timeout=5', 'statement_timeout'],
  ['postgres://me:secret@host/db?gssencmode=require', 'gssencmode'],
  ['postgres://me:secret@host:70000/db', 'port'],
  ['postgres://me:secret@one:1,two:2,three/db?port=1,2', 'port'],
  ['postgres://me:secret@host/db?connect_timeout=soon', 'connect_timeout'],
  ['postgres://me:secret@host/db?pgbouncer=yes', 'pgbouncer'],
  ['postgres://me:secret@ho st:x:y/db', 'cannot be read'],
])('%s is refused with the name of what is wrong, and without the password', (url, named) => {
  expect(() => read(url)).toThrow(expect.objectContaining({ code: 'database_url_invalid' }));
  expect(() => read(url)).toThrow(named);
  expect(() => read(url)).not.toThrow('secret');
});

function pooled(listenUrl?: string): Database {
  const url = new URL(inject('databaseUrl'));
  url.searchParams.set('pgbouncer', 'true');
  url.searchParams.set('options', '-c work_mem=12MB');
  const sql = connectDatabase({ url: url.href, maximumConnections: 1, ...(listenUrl !== undefined && { listenUrl }) });
  onTestFinished(async () => sql.end({ timeout: 1 }));
  return sql;
}

interface Settings {
  readonly path: string;
  readonly idle: string;
  readonly memory: string;
}

const HOLDFAST = { path: expect.stringMatching(/^holdfast/u) as string, idle: '5s', memory: '12MB' };

test('behind a pooler each statement and transaction sets what it needs, and the connection keeps none of it', async () => {
  const sql = pooled();
  const read = (queries: Pick<Database, 'unsafe'> | Database) => (queries as Database)<Settings[]>`
    select current_setting('search_path') as path, current_setting('idle_in_transaction_session_timeout') as idle,
      current_setting('work_mem') as memory where ${1}::int = 1`;
  expect([...(await read(sql))]).toEqual([HOLDFAST]);
  expect(await Promise.all([1, 2, 3].map((value) => sql`select ${value}::int as value`))).toEqual([
    [{ value: 1 }],
    [{ value: 2 }],
    [{ value: 3 }],
  ]);
  await expect(sql`select ${0}::int / ${0}::int`).rejects.toMatchObject({ code: '22012' });
  await expect(sql`select from nothing_there`).rejects.toMatchObject({ code: '42P01' });
  const inside = await sql.begin('isolation level repeatable read', async (open) => [...(await read(open as never))]);
  expect(inside).toEqual([HOLDFAST]);
  const reserved = await sql.reserve();
  const [kept] = await read(reserved);
  reserved.release();
  expect(kept).not.toEqual(HOLDFAST);
  expect(kept?.idle).toBe('0');
  expect([...(await read(sql))]).toEqual([HOLDFAST]);
});

test('notifications need a direct connection, which carries them', async () => {
  await expect(requireNotifications(pooled())).rejects.toMatchObject({ code: 'database_pooled' });
  await requireNotifications(pooled(inject('databaseUrl')));
});

test('a direct connection passes the probe', async () => {
  const sql = await openDatabase({ url: inject('databaseUrl'), maximumConnections: 2 });
  onTestFinished(async () => sql.end({ timeout: 1 }));
  await requireNotifications(sql);
});

const { sql } = useTestStore();

/** No text of Postgres holds NUL. */
const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));

const awkward = fc.constantFrom('', 'NULL', 'null', '{}', '{a,b}', '"', String.raw`\"`, String.raw`\\`, ' ', ',', '\n');

test('arrays come back as they were sent', async () => {
  const arrays = fc.record({
    texts: fc.array(fc.option(fc.oneof(text, awkward))),
    ids: fc.array(fc.uuid()),
    integers: fc.array(fc.option(fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }))),
    long: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
    doubles: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })),
    flags: fc.array(fc.boolean()),
    times: fc.array(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
  });
  const property = fc.asyncProperty(arrays, async (sent) => {
    const [read] = await sql`
      select ${sent.texts}::text[] as texts, ${sent.ids}::uuid[] as ids, ${sent.integers}::int[] as integers,
        ${sent.long}::bigint[] as long, ${sent.doubles}::float8[] as doubles,
        ${sent.flags.map(String)}::text[]::boolean[] as flags,
        ${sent.times.map((time) => time.toISOString())}::text[]::timestamptz[] as times`;
    expect(read).toEqual({ ...sent, doubles: sent.doubles.map((value) => (value === 0 ? 0 : value)) });
  });
  await fc.assert(property, { numRuns: 20 });
});

/** A Postgres that greets, and resets the connection at the first query of it. */
async function startFickleServer(): Promise<{ readonly url: string }> {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      // AuthenticationOk and ReadyForQuery.
      socket.write(Buffer.from('5200000008000000005a0000000549', 'hex'));
      socket.once('data', () => socket.resetAndDestroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return { url: `postgresql://one:secret@127.0.0.1:${(server.address() as AddressInfo).port}/any` };
}

test('a server that ends just after its greeting fails the query that was asked, and nothing that nobody handles', async () => {
  const { url } = await startFickleServer();
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const fickle = connectDatabase({ url, maximumConnections: 1 });
  const failure: unknown = await fickle`select 1`.then(
    () => null,
    (error: unknown) => error,
  );
  await fickle.end({ timeout: 0 });
  expect(isOutage(failure)).toBe(true);
  expect(unhandled).toEqual([]);
});
