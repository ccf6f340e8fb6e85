import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTE_NAMES } from '../turn/temporal-names.ts';
import { serverEnvironment, startGuardedProcess } from './guarded-process.ts';
import type { GuardedProcess } from './guarded-process.ts';
import { followLog } from './log-tail.ts';
import { LOCAL_HOST } from './ports.ts';
import { waitUntilReady } from './wait-until-ready.ts';

export interface TemporalServerOptions {
  /** Absolute path of the Temporal CLI. */
  readonly executable: string;
  /** gRPC, on 127.0.0.1. */
  readonly port: number;
  /** `null`: no web UI. */
  readonly uiPort: number | null;
  /** SQLite file that keeps workflows over restarts. `null`: in memory. */
  readonly databaseFile: string | null;
  /** Server settings, values in JSON as the CLI wants them (`"0s"` with its quotes). */
  readonly dynamicConfiguration?: Readonly<Record<string, string>>;
  /** Appended to; also tells whether the server that listens is ours. */
  readonly logFile: string;
}

export interface LocalTemporal {
  readonly process: GuardedProcess;
  /** `host:port` */
  readonly address: string;
  readonly uiUrl: string | null;
  stop(): Promise<void>;
}

/**
 * Each shard reads its transfer queue 20 times a second by default, so that every workflow task of a sequential turn waits
 * up to 50 ms; 200 halves a step's latency (measured: 92 → 46 ms for three activities).
 */
const POLL_CONFIGURATION = { 'history.transferProcessorMaxPollRPS': '200' };

/**
 * A timer that is due at once, as that of a retry, waits until this long after timers were last read: a second by default, so that an activity
 * whose worker died starts again a second later.
 */
const TIMER_CONFIGURATION = { 'history.timerProcessorMaxTimeShift': '"100ms"' };

/**
 * How much Go's heap grows between two collections, in per cent. The default, 100, collects so often that it costs a sixth of
 * the server's processor time and two thirds of what it needs when idle (measured: 7.1 → 5.9 s for 100 steps, 38 → 12 ms for
 * each idle second); 400 takes about 110 MB more memory.
 */
const HEAP_GROWTH = { GOGC: '400' };

/** In a file, the default journal of SQLite costs two thirds of the throughput (measured: 21 against 57 steps/s). */
const FILE_PRAGMAS = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'];

/** Runs a program whose files nobody else can read. The database cannot be made before: Temporal fills only one that is not there. */
const OWNER_ONLY = 'umask 077; exec "$0" "$@"';

/** The command line of the development server. */
export function temporalArguments(options: TemporalServerOptions): string[] {
  const configuration = { ...POLL_CONFIGURATION, ...TIMER_CONFIGURATION, ...options.dynamicConfiguration };
  return [
    'server',
    'start-dev',
    '--ip',
    LOCAL_HOST,
    '--port',
    String(options.port),
    ...(options.uiPort === null ? ['--headless'] : ['--ui-port', String(options.uiPort), '--ui-disable-news-fetch']),
    ...(options.databaseFile === null ? [] : ['--db-filename', options.databaseFile, ...FILE_PRAGMAS]),
    ...Object.values(SEARCH_ATTRIBUTE_NAMES).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
    ...Object.entries(configuration).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]),
    '--log-level',
    'warn',
  ];
}

/** Serving when the namespace can be read: the port opens earlier than that. */
async function isServing(address: string): Promise<boolean> {
  const connection = Connection.lazy({ address, connectTimeout: '1s', tls: false });
  try {
    await connection.withDeadline(Date.now() + 1000, () =>
      connection.workflowService.describeNamespace({ namespace: 'default' }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

/**
 * Starts the Temporal development server and returns when its namespace `default` can be used.
 *
 * @throws StackError `service_failed` when it ends or is not ready in time.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<LocalTemporal> {
  const { logFile } = options;
  const address = `${LOCAL_HOST}:${options.port}`;
  const readLog = await followLog(logFile);
  const server = await startGuardedProcess({
    name: 'Temporal',
    command: '/bin/sh',
    arguments: ['-c', OWNER_ONLY, options.executable, ...temporalArguments(options)],
    environment: { ...serverEnvironment(), ...HEAP_GROWTH },
    workingDirectory: '/',
    stopTimeoutMilliseconds: 5000,
    logFile,
  });
  await waitUntilReady({
    name: `Temporal server (${address})`,
    process: server,
    logFile,
    readLog,
    // It prints its address once it listens; until then another program's server may answer there.
    isReady: async () => (await readLog()).includes(`:${options.port}`) && (await isServing(address)),
  });
  const uiUrl = options.uiPort === null ? null : `http://${LOCAL_HOST}:${options.uiPort}`;
  return { process: server, address, uiUrl, stop: () => server.stop() };
}
