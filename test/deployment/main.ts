// `npm run test:deployment [-- name …]`: the demo, with its two kills, on Postgres and Temporal as people have them. Needs openssl, PgBouncer
// (Debian: `apt-get install pgbouncer`) and, for Temporal with client certificates, Go or `HOLDFAST_TEMPORAL_SERVER`.
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { LocalPostgres } from '../../src/local/postgres/postgres.ts';
import { startTestPostgres, startTestTemporal, temporaryDirectory } from '../support/servers.ts';
import { acceptTls, TEST_AUTHORITY } from '../support/tls-postgres.ts';
import { makeCertificates } from './support/certificates.ts';
import { startCodecServer } from './support/codec-server.ts';
import { startPgBouncer } from './support/pgbouncer.ts';
import { startTemporalCluster } from './support/temporal-cluster.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HOLDFAST = [join(ROOT, 'bin/holdfast.js')];
const DEMO = ['--import', import.meta.resolve('tsx'), join(ROOT, 'dev/demo/main.ts')];

type Variables = Readonly<Record<string, string>>;

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a program of Holdfast with these servers alone. */
async function run(program: readonly string[], variables: Variables, cwd: string): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:DATABASE_|TEMPORAL_|HOLDFAST_|PG)/u.test(name),
  );
  const child = spawn(process.execPath, program, {
    cwd,
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { status, output };
}

/** Takes nothing but TLS. @returns address of the superuser */
async function requireTls(server: LocalPostgres): Promise<string> {
  await acceptTls(server);
  const url = new URL(server.url('postgres'));
  url.search = 'sslmode=require';
  const sql = connectDatabase({ url: url.href, maximumConnections: 1 });
  try {
    const [row] = await sql<{ file: string }[]>`select current_setting('hba_file') as file`;
    const file = row?.file ?? '';
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/^host\b/gmu, 'hostssl'));
    await sql`select pg_reload_conf()`;
    await sql.unsafe('create database holdfast');
  } finally {
    await sql.end();
  }
  url.pathname = '/holdfast';
  return url.href;
}

/** @returns address of a login with the documented rights and no others, which checks the server's certificate */
async function prepareDatabase(server: LocalPostgres, directory: string): Promise<string> {
  const admin = await requireTls(server);
  const migrated = await run([...HOLDFAST, 'db', 'migrate', '--database-url', admin], {}, directory);
  if (migrated.status !== 0) throw new Error(migrated.output);
  const sql = connectDatabase({ url: admin, maximumConnections: 1 });
  await sql.unsafe("create role agents login password 'of-agents' in role holdfast_app");
  await sql.end();
  const url = new URL(admin);
  url.hostname = 'localhost';
  url.username = 'agents';
  url.password = 'of-agents';
  url.search = `sslmode=verify-full&sslrootcert=${encodeURIComponent(TEST_AUTHORITY)}`;
  return url.href;
}

interface Check {
  readonly tried: string;
  readonly works: boolean;
}

interface Environment {
  readonly name: string;
  readonly check: (servers: Servers) => Promise<readonly Check[]>;
}

interface Servers {
  readonly directory: string;
  /** Of the login with the documented rights. */
  readonly databaseUrl: string;
  /** A development server of Temporal, which another namespace than that of the cluster's database uses. */
  readonly temporal: Variables;
}

/** What works: the demo, whose first worker creates what Temporal lacks, then the doctor. */
async function works(variables: Variables, directory: string): Promise<readonly Check[]> {
  const demo = await run([...DEMO, '--named-servers', '--json'], variables, directory);
  process.stdout.write(demo.output);
  const doctor = await run([...HOLDFAST, 'doctor', '--only', 'postgres,temporal'], variables, directory);
  process.stdout.write(doctor.output);
  return [
    { tried: 'demo with two kills', works: demo.status === 0 && /"kills":2\b/u.test(demo.output) },
    { tried: 'doctor', works: doctor.status === 0 },
  ];
}

/** What the doctor refuses, or warns of, and says how to do. Other clients of the pooler find its connections as they were. */
async function advises(
  tried: string,
  variables: Variables,
  { advice, refuses }: { readonly advice: string; readonly refuses: boolean },
  directory: string,
): Promise<Check> {
  const { status, output } = await run([...HOLDFAST, 'doctor', '--only', 'postgres'], variables, directory);
  process.stdout.write(output);
  const sql = connectDatabase({ url: variables['DATABASE_URL'] ?? '', pooled: true, maximumConnections: 1 });
  const other = await sql.reserve();
  const [found] = await other.unsafe(`select current_setting('search_path') as path`);
  other.release();
  await sql.end();
  const isAdvised = (status !== 0) === refuses && output.includes(advice);
  return { tried, works: isAdvised && !String(found?.['path']).includes('holdfast') };
}

const ENVIRONMENTS: readonly Environment[] = [
  {
    name: 'postgres-tls',
    check: async ({ databaseUrl, temporal, directory }) => works({ DATABASE_URL: databaseUrl, ...temporal }, directory),
  },
  {
    name: 'pgbouncer-session',
    check: async ({ databaseUrl, temporal, directory }) => {
      const pooler = await startPgBouncer(databaseUrl, { mode: 'session', directory });
      try {
        return await works({ DATABASE_URL: pooler.url, ...temporal }, directory);
      } finally {
        await pooler.stop();
      }
    },
  },
  {
    name: 'pgbouncer-transaction',
    check: async ({ databaseUrl, temporal, directory }) => {
      const pooler = await startPgBouncer(databaseUrl, { mode: 'transaction', directory });
      const undeclared = pooler.url.replace('&pgbouncer=true', '');
      try {
        return [
          await advises(
            'without pgbouncer=true',
            { DATABASE_URL: undeclared },
            { advice: 'pgbouncer=true', refuses: true },
            directory,
          ),
          await advises(
            'without a listenUrl',
            { DATABASE_URL: pooler.url },
            { advice: 'DATABASE_LISTEN_URL', refuses: false },
            directory,
          ),
          ...(await works({ DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: databaseUrl, ...temporal }, directory)),
        ];
      } finally {
        await pooler.stop();
      }
    },
  },
  {
    name: 'codec-server',
    check: async ({ databaseUrl, temporal, directory }) => {
      const codec = await startCodecServer('Bearer of-the-test');
      const variables = { DATABASE_URL: databaseUrl, ...temporal, TEMPORAL_CODEC_ENDPOINT: codec.endpoint };
      try {
        const checks = await works({ ...variables, TEMPORAL_CODEC_AUTH: 'Bearer of-the-test' }, directory);
        const { '/encode': encoded = 0, '/decode': decoded = 0 } = codec.answered;
        process.stdout.write(`asked to encode ${encoded} times, to decode ${decoded} times\n`);
        return [...checks, { tried: 'history is encoded', works: encoded > 100 && decoded > 100 }];
      } finally {
        await codec.stop();
      }
    },
  },
  {
    name: 'lost-connections',
    check: async () => {
      const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
      const tests = await run([vitest, 'run', 'lost-connections'], { HOLDFAST_TERMINATIONS: '300' }, ROOT);
      process.stdout.write(tests.output);
      return [{ tried: '300 connections ended, plain and over TLS', works: tests.status === 0 }];
    },
  },
  {
    name: 'temporal-mtls',
    check: async ({ directory }) => {
      const cluster = await startTemporalCluster(join(directory, 'cluster'), makeCertificates(directory));
      const server = await startTestPostgres();
      try {
        const databaseUrl = await prepareDatabase(server, directory);
        return await works({ DATABASE_URL: databaseUrl, ...cluster.environment }, directory);
      } finally {
        await server.stop();
        await cluster.stop();
      }
    },
  },
];

async function checkAll(chosen: readonly Environment[]): Promise<boolean> {
  const directory = await temporaryDirectory('deployment');
  await mkdir(join(directory, 'cluster'));
  const server = await startTestPostgres();
  const temporal = await startTestTemporal();
  const rows: string[] = [];
  let allWork = true;
  try {
    const servers = {
      directory,
      databaseUrl: await prepareDatabase(server, directory),
      temporal: { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: 'default' },
    };
    for (const { name, check } of chosen) {
      process.stdout.write(`\n== ${name}\n`);
      for (const { tried, works: isGood } of await check(servers)) {
        rows.push(`| ${name} | ${tried} | ${isGood ? 'yes' : 'NO'} |`);
        allWork &&= isGood;
      }
    }
  } finally {
    await temporal.stop();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
  process.stdout.write(`\n| environment | tried | works |\n| --- | --- | --- |\n${rows.join('\n')}\n`);
  return allWork;
}

const names = process.argv.slice(2);
const chosen = ENVIRONMENTS.filter(({ name }) => names.length === 0 || names.includes(name));
process.exitCode = chosen.length > 0 && (await checkAll(chosen)) ? 0 : 1;
