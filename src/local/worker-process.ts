import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { DEFAULT_TURN_TASK_QUEUE } from '../turn/temporal-names.ts';
import { isPolled } from '../temporal/is-polled.ts';
import { connectionOptions, temporalAt } from '../temporal/profile.ts';
import { followLog } from './log-tail.ts';
import { holdfastCommand, startProgram } from './services.ts';
import type { Connections } from './stack-file.ts';
import type { RunningService } from './supervise.ts';
import { waitUntilReady } from './wait-until-ready.ts';

export interface WorkerProcessOptions {
  readonly connections: Connections;
  /** The user's environment: model keys reach the worker, and nobody else. */
  readonly environment: NodeJS.ProcessEnv;
  readonly workingDirectory: string;
  readonly logDirectory: string;
  /** Arguments of Node instead of `holdfast worker`, for tests of the stack. */
  readonly command?: readonly string[];
  /** Task queue whose pollers show that the worker is ready. Default: `agent-turn`. */
  readonly taskQueue?: string;
}

/** The environment of a program that has to find this stack's servers. */
export function connectedEnvironment(environment: NodeJS.ProcessEnv, connections: Connections): Record<string, string> {
  const inherited = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    ...Object.fromEntries(inherited),
    DATABASE_URL: connections.databaseUrl,
    DATABASE_LISTEN_URL: connections.databaseListenUrl ?? '',
    TEMPORAL_ADDRESS: connections.temporalAddress,
    TEMPORAL_NAMESPACE: connections.temporalNamespace,
    ...(connections.simulatorUrl === null ? {} : { HOLDFAST_SIMULATOR_URL: connections.simulatorUrl }),
  };
}

/** Time that running calls get when the stack stops: nobody waits long for Ctrl-C, and a turn that is cut off goes on at the next start. */
const GRACE_SECONDS = 5;

/** Starts `holdfast worker` in a process of its own and returns when it asks Temporal for work. */
export async function startWorkerProcess(options: WorkerProcessOptions, signal?: AbortSignal): Promise<RunningService> {
  const logFile = join(options.logDirectory, 'worker.log');
  const { temporalNamespace } = options.connections;
  const since = Date.now();
  const readLog = await followLog(logFile);
  const process = await startProgram({
    name: 'worker',
    arguments: options.command ?? holdfastCommand('worker', '--grace', String(GRACE_SECONDS)),
    environment: connectedEnvironment(options.environment, options.connections),
    workingDirectory: options.workingDirectory,
    logFile,
    stopTimeoutMilliseconds: (GRACE_SECONDS + 5) * 1000,
  });
  const connection = Connection.lazy(connectionOptions(temporalAt(options.connections, options.environment)));
  const taskQueue = options.taskQueue ?? DEFAULT_TURN_TASK_QUEUE;
  const isReady = async (): Promise<boolean> =>
    isPolled(connection, { namespace: temporalNamespace, taskQueue, since }).catch(() => false);
  try {
    await waitUntilReady({ name: 'worker', process, logFile, readLog, isReady, signal });
  } finally {
    await connection.close();
  }
  return { process, stop: () => process.stop() };
}
