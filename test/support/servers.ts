import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { findTemporalCli } from '../../src/local/setup/temporal-cli.mjs';
import { freePort } from '../../src/local/ports.ts';
import { startPostgres } from '../../src/local/postgres/postgres.ts';
import type { LocalPostgres } from '../../src/local/postgres/postgres.ts';
import { startTemporalServer } from '../../src/local/temporal-server.ts';
import type { LocalTemporal } from '../../src/local/temporal-server.ts';

/** A temporary folder that every user of the machine can pass through, since root's Postgres runs as another user. */
export async function temporaryDirectory(purpose: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `holdfast-${purpose}-`));
  await chmod(directory, 0o755);
  return directory;
}

/** 4,096 rounds of hashing, 2 ms, are what each login costs its client otherwise. */
async function makeLoginsCheap(url: string): Promise<void> {
  const admin = postgres(url, { max: 1, fetch_types: false });
  try {
    await admin`set scram_iterations = 1`;
    await admin.unsafe(`alter role current_user password '${new URL(url).password}'`);
  } finally {
    await admin.end();
  }
}

/** A Postgres for tests: data in a temporary folder that `stop` removes, nothing written for keeps. */
export async function startTestPostgres(): Promise<LocalPostgres> {
  const directory = await temporaryDirectory('test-postgres');
  try {
    const server = await startPostgres({
      dataDirectory: join(directory, 'data'),
      port: await freePort(),
      durable: false,
      maximumConnections: 300,
      // No table here grows old, and its workers would load the catalog of one database after another.
      settings: { autovacuum: 'off' },
      logFile: join(directory, 'postgres.log'),
    });
    await makeLoginsCheap(server.url('postgres'));
    return {
      ...server,
      stop: async () => {
        await server.stop();
        await rm(directory, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

export interface TestTemporalOptions {
  /** Events of a history at which Temporal suggests to continue as new. Default: the server's own 4,096. */
  readonly suggestContinueAsNewEvents?: number;
  /** Bytes of a history at which Temporal suggests to continue as new. Default: the server's own 4 MiB. */
  readonly suggestContinueAsNewBytes?: number;
  /** Further server settings, values in JSON. */
  readonly dynamicConfiguration?: Readonly<Record<string, string>>;
}

/**
 * An in-memory Temporal for tests; a single test that needs another setting starts one of its own and stops it. It is tried
 * again, since an outgoing connection of another test can take a port that was free a moment ago, and the server takes several.
 */
export async function startTestTemporal(options: TestTemporalOptions = {}): Promise<LocalTemporal> {
  return tryTestTemporal(options).catch(() => tryTestTemporal(options));
}

async function tryTestTemporal(options: TestTemporalOptions): Promise<LocalTemporal> {
  const found = findTemporalCli();
  if (found === null) throw new Error('No Temporal CLI: run `npm run setup`.');
  const { suggestContinueAsNewEvents: events, suggestContinueAsNewBytes: bytes } = options;
  const directory = await temporaryDirectory('test-temporal');
  const server = await startTemporalServer({
    executable: found.path,
    port: await freePort(),
    uiPort: null,
    databaseFile: null,
    logFile: join(directory, 'temporal.log'),
    dynamicConfiguration: {
      // Else the successor of a run that took less than 1 s waits for the rest of it.
      'history.workflowIdReuseMinimalInterval': '"0s"',
      'frontend.WorkflowPauseEnabled': 'true',
      ...(events === undefined ? {} : { 'limit.historyCount.suggestContinueAsNew': String(events) }),
      ...(bytes === undefined ? {} : { 'limit.historySize.suggestContinueAsNew': String(bytes) }),
      ...options.dynamicConfiguration,
    },
  });
  return {
    ...server,
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
