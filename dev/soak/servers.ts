import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findTemporalCli } from '../../src/local/setup/temporal-cli.mjs';
import type { GuardedProcess } from '../../src/local/guarded-process.ts';
import { releaseDataDirectory } from '../../src/local/leftovers.ts';
import { choosePort, freePort, LOCAL_HOST } from '../../src/local/ports.ts';
import { ensureDatabase, startPostgres } from '../../src/local/postgres/postgres.ts';
import type { LocalPostgres } from '../../src/local/postgres/postgres.ts';
import { holdfastCommand, startProgram } from '../../src/local/services.ts';
import { startTemporalServer } from '../../src/local/temporal-server.ts';
import { waitUntilReady } from '../../src/local/wait-until-ready.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/database/migrate.ts';
import { followLog } from '../../src/local/log-tail.ts';

const DATABASE = 'holdfast';

/** A server that can be struck and comes back on the same port with the same data. */
export interface Server {
  /** Of its first process, whose children serve connections. */
  processId(): number;
  /** Starts it again after it was killed or stopped. */
  start(): Promise<void>;
  /** Ends it in good order. */
  stop(): Promise<void>;
}

export interface Servers {
  readonly postgres: Server;
  readonly temporal: Server;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly simulatorUrl: string;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 10;
const START_PAUSE_MILLISECONDS = 500;

/** After so many events a turn goes on in a new run, so that strikes meet that too: a dozen steps. */
const RUN_EVENTS = 200;

/** Of the model's answers: slow enough for a strike to meet open calls. */
const TOKENS_PER_SECOND = 400;

/**
 * Postgres and Temporal on files: what a kill may lose here, it may lose anywhere. What a killed process wrote stays with the
 * system, whether it waited for the disk or not. So neither does: after each kill Postgres would first write all of its files to the disk
 * again (`recovery_init_sync_method`), which takes as long as the disk is busy with the work of others: 0.3 s, or 5 s beside two
 * programs that write (measured).
 */
export async function startServers(
  directory: string,
  model: { readonly seed: number; readonly latency: number },
): Promise<Servers> {
  const logs = join(directory, 'logs');
  await mkdir(logs, { recursive: true });
  const [postgres, temporal, simulator] = await Promise.all([
    runPostgres(directory, logs),
    runTemporal(directory, logs),
    runSimulator(directory, logs, model),
  ]);
  const sql = connectDatabase({ url: postgres.url, applicationName: 'holdfast-migrate' });
  await migrate(sql);
  await sql.end();
  return {
    postgres: postgres.server,
    temporal: temporal.server,
    databaseUrl: postgres.url,
    temporalAddress: temporal.address,
    simulatorUrl: simulator.url,
    stop: async () => {
      await simulator.process.stop();
      await temporal.server.stop();
      await postgres.server.stop();
    },
  };
}

/**
 * A port below those that systems give to outgoing connections (Linux: from 32768 on). While its server is away, clients knock
 * at the port all the time, and one that was given this very port for its own end would keep the server out.
 */
function lastingPort(): Promise<number> {
  return choosePort(12_000 + Math.floor(Math.random() * 18_000));
}

/** Somebody may hold the port for a moment all the same; a server that stays away would be a strike without an end. */
async function startThroughTakenPort<Running>(start: () => Promise<Running>): Promise<Running> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await delay(START_PAUSE_MILLISECONDS);
    }
  }
}

async function runPostgres(directory: string, logs: string) {
  const dataDirectory = join(directory, 'postgres');
  const port = await lastingPort();
  const start = async (): Promise<LocalPostgres> =>
    startThroughTakenPort(async () => {
      await releaseDataDirectory(dataDirectory);
      return startPostgres({
        dataDirectory,
        port,
        durable: true,
        settings: { fsync: 'off' },
        maximumConnections: 200,
        logFile: join(logs, 'postgres.log'),
      });
    });
  let running = await start();
  await ensureDatabase(running, DATABASE);
  const server: Server = {
    processId: () => running.process.processId,
    start: async () => {
      running = await start();
    },
    stop: () => running.stop(),
  };
  return { server, url: running.url(DATABASE) };
}

async function runTemporal(directory: string, logs: string) {
  const found = findTemporalCli();
  if (found === null) throw new Error('No Temporal CLI: run `npm run setup`.');
  const port = await lastingPort();
  const start = () =>
    startThroughTakenPort(() =>
      startTemporalServer({
        executable: found.path,
        port,
        uiPort: null,
        databaseFile: join(directory, 'temporal.db'),
        logFile: join(logs, 'temporal.log'),
        dynamicConfiguration: { 'limit.historyCount.suggestContinueAsNew': String(RUN_EVENTS) },
      }),
    );
  let running = await start();
  const server: Server = {
    processId: () => running.process.processId,
    start: async () => {
      running = await start();
    },
    stop: () => running.stop(),
  };
  return { server, address: running.address };
}

async function runSimulator(
  directory: string,
  logs: string,
  { seed, latency }: { readonly seed: number; readonly latency: number },
): Promise<{ process: GuardedProcess; url: string }> {
  const port = await freePort();
  const logFile = join(logs, 'simulator.log');
  const readLog = await followLog(logFile);
  const settings = { port, latency, 'tokens-per-second': TOKENS_PER_SECOND, seed };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { PATH = '', HOME = '' } = process.env;
  const simulator = await startProgram({
    name: 'simulator',
    arguments: holdfastCommand('simulator', ...flags, '--json'),
    environment: { PATH, HOME, TMPDIR: directory, HOLDFAST_RUN: 'dist' },
    workingDirectory: directory,
    logFile,
    stopTimeoutMilliseconds: 3_000,
  });
  await waitUntilReady({
    name: 'simulator',
    process: simulator,
    logFile,
    readLog,
    isReady: async () => (await readLog()).includes(`"port":${port}`),
  });
  return { process: simulator, url: `http://${LOCAL_HOST}:${port}` };
}
