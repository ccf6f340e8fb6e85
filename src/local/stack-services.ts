import { dirname, join } from 'node:path';
import { connectDatabase } from '../store/database/database.ts';
import { migrate } from '../store/database/migrate.ts';
import { adoptNamespace } from '../store/database/temporal-namespace.ts';
import type { TemporalAddress } from '../temporal/profile.ts';
import type { PortPlan, StackPorts } from './choose-ports.ts';
import { explainFullDisk } from './full-disk.ts';
import { releaseDataDirectory } from './leftovers.ts';
import { localDatabaseUrl } from './postgres/postgres-login.ts';
import { LOCAL_HOST } from './ports.ts';
import { ensureDatabase, startPostgres } from './postgres/postgres.ts';
import { startHttpProcess } from './services.ts';
import { resolveConnections } from './stack-file.ts';
import type { Connections } from './stack-file.ts';
import type { LocalStackOptions } from './stack-options.ts';
import type { StackRecord } from './stack-record.ts';
import { postgresDataDirectory } from './state-directory.ts';
import { supervise } from './supervise.ts';
import type { ServiceDefinition, ServiceEvent, ServiceName, SupervisedService } from './supervise.ts';
import { provideTemporalCli } from './temporal-cli.ts';
import { startTemporalServer } from './temporal-server.ts';
import { connectedEnvironment, startWorkerProcess } from './worker-process.ts';

const DATABASE = 'holdfast';
const NAMESPACE = 'default';

/** Everything that the steps of a start share. */
export interface StackStart {
  readonly options: LocalStackOptions;
  readonly directory: string;
  readonly logDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly ports: PortPlan;
  readonly record: StackRecord;
  readonly running: SupervisedService[];
}

function isWanted(start: StackStart, service: ServiceName, variable?: string): boolean {
  const wanted = start.options.services?.includes(service) ?? true;
  const named = variable === undefined ? undefined : start.environment[variable];
  return wanted && (named === undefined || named === '');
}

const LARGEST_PORT_TRIES = 4;

function logFileOf({ logDirectory }: StackStart, service: ServiceName): string {
  return join(logDirectory, `${service}.log`);
}

/**
 * Starts and watches a service on its ports. A start that lost a port to another program between the choice and the moment
 * at which the service listens is repeated with another one.
 */
async function superviseIn(
  start: StackStart,
  portNames: readonly (keyof StackPorts)[],
  define: (ports: StackPorts) => Omit<ServiceDefinition, 'logFile'>,
): Promise<void> {
  const onEvent = (event: ServiceEvent): void => {
    start.options.onEvent?.(event);
    // A write that fails is no reason to stop the stack; the file then names an older process, which is checked by its start.
    if (event.kind === 'ready') start.record.rememberProcess(event.service, event.processId).catch(() => undefined);
  };
  for (let tries = 1; ; tries += 1) {
    try {
      const definition = define(start.ports.ports());
      const explained: ServiceDefinition = {
        ...definition,
        logFile: logFileOf(start, definition.name),
        start: (signal) =>
          definition.start(signal).catch(async (error: unknown) => {
            throw await explainFullDisk(error, start.directory);
          }),
      };
      start.running.push(await supervise(explained, onEvent, start.options.signal));
      return;
    } catch (error) {
      if (tries === LARGEST_PORT_TRIES || !(await start.ports.replaceTaken(portNames))) throw error;
    }
  }
}

async function runPostgres(start: StackStart): Promise<void> {
  if (!isWanted(start, 'postgres', 'DATABASE_URL')) return start.record.update({ postgres: null });
  const dataDirectory = await postgresDataDirectory(
    start.directory,
    start.record.current().postgres?.dataDirectory ?? null,
  );
  await superviseIn(start, ['postgres'], ({ postgres: port }) => ({
    name: 'postgres',
    start: async () => {
      await releaseDataDirectory(dataDirectory);
      const durable = start.options.durable ?? true;
      const server = await startPostgres({
        dataDirectory,
        port,
        durable,
        logFile: logFileOf(start, 'postgres'),
      });
      await ensureDatabase(server, DATABASE);
      return server;
    },
  }));
  const { postgres: port } = start.ports.ports();
  await start.record.update({ postgres: { port, database: DATABASE, dataDirectory } });
}

async function runTemporal(start: StackStart): Promise<void> {
  if (!isWanted(start, 'temporal', 'TEMPORAL_ADDRESS')) return start.record.update({ temporal: null });
  const executable = await provideTemporalCli(start.environment, start.options.onProgress);
  await superviseIn(start, ['temporal', 'temporalUi'], ({ temporal: port, temporalUi: uiPort }) => ({
    name: 'temporal',
    start: async () =>
      startTemporalServer({
        executable,
        port,
        uiPort,
        databaseFile: join(start.directory, 'temporal.db'),
        logFile: logFileOf(start, 'temporal'),
      }),
  }));
  const { temporal: port, temporalUi: uiPort } = start.ports.ports();
  const uiUrl = `http://${LOCAL_HOST}:${uiPort}`;
  await start.record.update({ temporal: { address: `${LOCAL_HOST}:${port}`, namespace: NAMESPACE, uiUrl } });
}

/** What a program needs to start, and nothing of keys or servers. */
function simulatorEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const needed = ['PATH', 'HOME', 'TMPDIR', 'HOLDFAST_RUN'];
  return Object.fromEntries(
    needed.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}

async function runSimulator(start: StackStart): Promise<void> {
  if (!isWanted(start, 'simulator', 'HOLDFAST_SIMULATOR_URL')) return start.record.update({ simulator: null });
  await superviseIn(start, ['simulator'], ({ simulator: port }) => ({
    name: 'simulator',
    start: async (signal) =>
      startHttpProcess(
        {
          name: 'simulator',
          port,
          workingDirectory: start.directory,
          logDirectory: start.logDirectory,
          environment: simulatorEnvironment(start.environment),
        },
        signal,
      ),
  }));
  const { simulator: port } = start.ports.ports();
  await start.record.update({ simulator: { url: `http://${LOCAL_HOST}:${port}` } });
}

async function runWorker(start: StackStart, connections: Connections): Promise<void> {
  if (!isWanted(start, 'worker')) return;
  await superviseIn(start, [], () => ({
    name: 'worker',
    start: async (signal) =>
      startWorkerProcess(
        {
          connections,
          // It keeps the files of agents away from there.
          environment: { ...start.environment, HOLDFAST_DIRECTORY: start.directory },
          workingDirectory: start.options.workingDirectory ?? dirname(start.directory),
          logDirectory: start.logDirectory,
          ...(start.options.workerCommand === undefined ? {} : { command: start.options.workerCommand }),
        },
        signal,
      ),
  }));
}

async function runServer(start: StackStart, connections: Connections): Promise<void> {
  if (start.options.services?.includes('server') !== true) return start.record.update({ server: null });
  await superviseIn(start, ['server'], ({ server: port }) => ({
    name: 'server',
    start: async (signal) =>
      startHttpProcess(
        {
          name: 'server',
          port,
          workingDirectory: start.options.workingDirectory ?? dirname(start.directory),
          logDirectory: start.logDirectory,
          // It links to Temporal's pages, which the stack file there names.
          environment: connectedEnvironment({ ...start.environment, HOLDFAST_DIRECTORY: start.directory }, connections),
        },
        signal,
      ),
  }));
  const { server: port } = start.ports.ports();
  await start.record.update({ server: { url: `http://${LOCAL_HOST}:${port}` } });
}

/** As the superuser of a Postgres of its own: before the first migration there is no role of the application. */
function migrationUrl({ record }: StackStart, { databaseUrl }: Connections): string {
  const { postgres } = record.current();
  return postgres === null ? databaseUrl : localDatabaseUrl(postgres.dataDirectory, postgres.port, postgres.database);
}

/** @param own the Temporal that belongs to the database, whatever it belonged to before: both are this stack's */
async function prepareDatabase(databaseUrl: string, own: TemporalAddress | null): Promise<void> {
  const sql = connectDatabase({ url: databaseUrl, applicationName: 'holdfast-migrate' });
  try {
    await migrate(sql);
    if (own === null) return;
    const [{ connectClient }, { describeNamespace }] = await Promise.all([
      import('../temporal/connect.ts'),
      import('../temporal/namespace.ts'),
    ]);
    const client = await connectClient(own);
    try {
      await adoptNamespace(sql, await describeNamespace(client));
    } finally {
      await client.connection.close();
    }
  } finally {
    await sql.end();
  }
}

/** Both at once; when one fails the other's start is still awaited, so that it can be stopped. */
async function both(...starts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(starts);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Starts what is wanted, in order: Postgres and Temporal, the simulator, migrations, the worker and the server. */
export async function startServices(start: StackStart): Promise<Connections> {
  const { signal } = start.options;
  await both(runPostgres(start), runTemporal(start));
  signal?.throwIfAborted();
  await runSimulator(start);
  const connections = resolveConnections(start.environment, start.record.current());
  const { postgres, temporal } = start.record.current();
  await prepareDatabase(migrationUrl(start, connections), postgres === null ? null : temporal);
  signal?.throwIfAborted();
  await both(runWorker(start, connections), runServer(start, connections));
  signal?.throwIfAborted();
  return connections;
}

/** In the reverse order of their start, so that the worker can still write while it stops. */
export async function stopServices(running: readonly SupervisedService[]): Promise<void> {
  const order: readonly ServiceName[] = ['server', 'worker', 'simulator', 'temporal', 'postgres'];
  for (const name of order) {
    for (const service of running.filter((candidate) => candidate.name === name)) await service.stop();
  }
}
