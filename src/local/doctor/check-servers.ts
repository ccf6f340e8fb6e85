import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import postgres from 'postgres';
import { findTemporalCli } from '../../../scripts/setup/temporal-cli.mjs';
import { DEFAULT_PORTS } from '../choose-ports.ts';
import { freePort, isPortFree } from '../ports.ts';
import { startPostgres } from '../postgres.ts';
import { isStackRunning, rememberedPorts } from '../stack.ts';
import type { Stack } from '../stack-file.ts';
import { startTemporalServer } from '../temporal-server.ts';
import { commandsFor, missingSearchAttributes } from '../../temporal/search-attributes.ts';
import { broken, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

export interface ServerCheckOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** State folder of the local stack. */
  readonly directory: string;
  readonly stack: Stack | null;
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.split('\n')[0] ?? text;
}

/** A remote clock may be this far from ours before timeouts and "minutes ago" begin to look wrong. */
const CLOCK_WARNING_MILLISECONDS = 2000;
const CLOCK_BROKEN_MILLISECONDS = 60_000;

/** Judges the difference between the database's clock and ours. */
export function judgeClock(differenceMilliseconds: number): Finding {
  const check = 'clock';
  const distance = Math.abs(differenceMilliseconds);
  const detail = `the database's clock is ${(distance / 1000).toFixed(1)} s ${differenceMilliseconds < 0 ? 'behind' : 'ahead of'} this machine's`;
  const fix = 'let both machines set their clocks by NTP (timedatectl set-ntp true)';
  if (distance > CLOCK_BROKEN_MILLISECONDS) return broken(check, detail, fix);
  return distance > CLOCK_WARNING_MILLISECONDS
    ? warning(check, detail, fix)
    : ok(check, 'the database and this machine agree');
}

/** Asks a server for its version and its time; the time is compared with the middle of the round trip. */
async function askPostgres(url: string): Promise<{ version: string; differenceMilliseconds: number }> {
  const sql = postgres(url, { max: 1, fetch_types: false, connect_timeout: 5, onnotice: () => undefined });
  try {
    await sql`select 1`;
    const before = Date.now();
    const [row] = await sql<{ version: string; now: number }[]>`
      select current_setting('server_version') as version, (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    const middle = (before + Date.now()) / 2;
    return { version: row?.version ?? 'unknown', differenceMilliseconds: (row?.now ?? middle) - middle };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function withTemporaryDirectory<Result>(action: (directory: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-doctor-'));
  try {
    // Root's Postgres runs as another user.
    await chmod(directory, 0o755);
    return await action(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The Postgres that commands would use, or, when none runs, a trial start of the embedded one. Also compares the clocks. */
export async function checkPostgres(options: ServerCheckOptions, databaseUrl: string | null): Promise<Finding[]> {
  const check = 'Postgres';
  try {
    if (databaseUrl !== null) {
      const { version, differenceMilliseconds } = await askPostgres(databaseUrl);
      const { hostname, port } = new URL(databaseUrl);
      return [ok(check, `${version} answers on ${hostname}:${port || '5432'}`), judgeClock(differenceMilliseconds)];
    }
    return await withTemporaryDirectory(async (directory) => {
      const server = await startPostgres({
        dataDirectory: join(directory, 'data'),
        port: await freePort(),
        durable: false,
        logFile: join(directory, 'log'),
      });
      try {
        const { version, differenceMilliseconds } = await askPostgres(server.url('postgres'));
        return [ok(check, `${version} starts (none is running now)`), judgeClock(differenceMilliseconds)];
      } finally {
        await server.stop();
      }
    });
  } catch (error) {
    const own = (options.environment['DATABASE_URL'] ?? '') === '';
    const fix = own
      ? 'npx holdfast dev, and read .holdfast/logs/postgres.log'
      : 'correct DATABASE_URL, or unset it to use the embedded Postgres';
    return [broken(check, messageOf(error), fix)];
  }
}

/** @returns search attributes that the namespace lacks; `null`: its server does not tell */
async function askTemporal(address: string, namespace: string): Promise<string[] | null> {
  const connection = await Connection.connect({ address, connectTimeout: '5s' });
  try {
    return await connection.withDeadline(Date.now() + 5000, async () => {
      await connection.workflowService.describeNamespace({ namespace });
      return missingSearchAttributes(connection, namespace);
    });
  } finally {
    await connection.close();
  }
}

/** The Temporal server that commands would use, or, when none runs, a trial start of the development server. */
export async function checkTemporal(
  options: ServerCheckOptions,
  address: string | null,
  namespace: string,
): Promise<Finding> {
  const check = 'Temporal';
  try {
    if (address !== null) {
      const missing = (await askTemporal(address, namespace)) ?? [];
      if (missing.length > 0)
        return warning(
          check,
          `${address} answers; namespace ${namespace} lacks the search attributes ${missing.join(', ')}`,
          `start a worker that may create them, or: ${commandsFor(namespace, missing).join(', or: ')}`,
        );
      return ok(check, `${address} answers, namespace ${namespace} exists`);
    }
    const found = findTemporalCli(options.environment);
    if (found === null) return broken(check, 'there is no Temporal CLI to start', 'npm run setup');
    await withTemporaryDirectory(async (directory) => {
      const server = await startTemporalServer({
        executable: found.path,
        port: await freePort(),
        uiPort: null,
        databaseFile: null,
        logFile: join(directory, 'log'),
      });
      await server.stop();
    });
    return ok(check, 'starts (none is running now)');
  } catch (error) {
    const own = (options.environment['TEMPORAL_ADDRESS'] ?? '') === '';
    const fix = own
      ? 'npx holdfast dev, and read .holdfast/logs/temporal.log'
      : 'correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, or unset them';
    return broken(check, `${address ?? 'the development server'}: ${messageOf(error)}`, fix);
  }
}

/** Are the stack's ports its own or free? A taken one is no fault: the next start chooses another. */
export async function checkPorts(options: ServerCheckOptions): Promise<Finding> {
  const check = 'ports';
  if (isStackRunning(options.directory)) return ok(check, 'in use by the running stack');
  const ports = { ...DEFAULT_PORTS, ...rememberedPorts(options.stack) };
  const taken: string[] = [];
  for (const [name, port] of Object.entries(ports)) {
    if (!(await isPortFree(port))) taken.push(`${port} (${name})`);
  }
  if (taken.length === 0) return ok(check, `free: ${Object.values(ports).join(', ')}`);
  return warning(
    check,
    `taken by other programs: ${taken.join(', ')}`,
    'nothing to do: npx holdfast dev chooses others',
  );
}
