import { describe, expect, test } from 'vitest';
import { readConnectionOptions } from '../../src/store/database/connection-options.ts';
import { TEST_AUTHORITY } from '../support/tls-postgres.ts';

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
