import { dirname, join, resolve } from 'node:path';
import { lockHolder, tryLock } from './setup/lock.mjs';
import type { Lock } from './setup/lock.mjs';
import { PortPlan } from './choose-ports.ts';
import type { StackPorts } from './choose-ports.ts';
import { explainFullDisk } from './full-disk.ts';
import { takeDownRemembered } from './leftovers.ts';
import { rotateLogs } from './logs.ts';
import { StackError } from './stack-error.ts';
import { readStack } from './stack-file.ts';
import type { Connections, Stack } from './stack-file.ts';
import type { LocalStackOptions } from './stack-options.ts';
import { StackRecord } from './stack-record.ts';
import { startServices, stopServices } from './stack-services.ts';
import type { StackStart } from './stack-services.ts';
import { directoryRefused, makeDirectory } from './state-directory.ts';
import type { ServiceName } from './supervise.ts';

export interface LocalStack {
  readonly connections: Connections;
  /** What `stack.json` says now. */
  current(): Stack;
  /** Folder of the services' logs. */
  readonly logDirectory: string;
  /** Of each running service that this stack started. */
  processIds(): Partial<Record<ServiceName, number>>;
  /** Starts those again that run, so that they read their files anew. */
  restart(names: readonly ServiceName[]): Promise<void>;
  /** Stops server, worker, simulator, Temporal and Postgres, in this order, and returns when their processes are gone. */
  stop(): Promise<void>;
}

/** One stack at a time owns a state folder. */
function takeLock(directory: string): Lock {
  const path = stackLockPath(directory);
  const lock = lockOf(path);
  if (lock !== null) return lock;
  const holder = lockHolder(path);
  throw new StackError(
    'stack_already_running',
    `Holdfast already runs here${holder === null ? '' : ` (process ${holder})`}: ${directory} is in use.`,
    'Use it as it is, or stop it with Ctrl-C in its own terminal first.',
  );
}

/** The first that is written there. */
function lockOf(path: string): Lock | null {
  try {
    return tryLock(path);
  } catch (error) {
    throw directoryRefused(dirname(path), error);
  }
}

function stackLockPath(directory: string): string {
  return join(directory, 'stack.lock');
}

/** True while a living process runs the stack of this state folder. */
export function isStackRunning(directory: string): boolean {
  return lockHolder(stackLockPath(directory)) !== null;
}

/** The ports that a stack file names. */
export function rememberedPorts(stack: Stack | null): Partial<StackPorts> {
  const portOf = (url: string | null | undefined): number | null => (url ? Number(new URL(url).port) : null);
  const entries = {
    postgres: stack?.postgres?.port ?? null,
    temporal: portOf(stack?.temporal && `http://${stack.temporal.address}`),
    temporalUi: portOf(stack?.temporal?.uiUrl),
    simulator: portOf(stack?.simulator?.url),
    server: portOf(stack?.server?.url),
  };
  return Object.fromEntries(Object.entries(entries).filter(([, port]) => port !== null));
}

async function prepare(options: LocalStackOptions, directory: string): Promise<StackStart> {
  const previous = readStack(directory);
  // What a killed stack left behind holds the ports and files that we are about to use.
  await takeDownRemembered(Object.values(previous?.processes ?? {}));
  const logDirectory = join(directory, 'logs');
  await makeDirectory(logDirectory);
  await rotateLogs(logDirectory);
  const ports = await PortPlan.make({
    asked: options.ports ?? {},
    remembered: rememberedPorts(previous),
    isAnyPortGood: options.isAnyPortGood ?? false,
  });
  const record = new StackRecord(directory, previous);
  return {
    options,
    directory,
    logDirectory,
    environment: options.environment ?? process.env,
    ports,
    record,
    running: [],
  };
}

/** Stops in order and gives the state folder free. A second call waits for the first. */
function stopOnce(start: StackStart, lock: Lock): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    try {
      await stopServices(start.running);
      // A file that still names them is harmless: the next start compares when they began.
      await start.record.update({ processes: {} }).catch(() => undefined);
    } finally {
      lock.release();
    }
  };
  return async () => (stopped ??= stop());
}

/** Milliseconds that a start under way gets to end by itself: a download does not look at the signal. */
const ABORT_MILLISECONDS = 2_000;

/**
 * The work's result; soon after the abort its reason is thrown, whatever the work waits for. What it starts after that ends with
 * this process.
 */
async function unlessAborted<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => {
      timer = setTimeout(() => reject(signal?.reason), ABORT_MILLISECONDS);
    };
  });
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Starts the local stack: Postgres, Temporal, the simulator, the worker, each one watched and started again when it ends. None
 * of them outlives this process by more than a few seconds, also when it is killed.
 *
 * @throws StackError with a code for each thing that a user can do something about; nothing is left running then.
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const directory = resolve(options.directory);
  await makeDirectory(directory);
  try {
    return await startIn(directory, options);
  } catch (error) {
    throw await explainFullDisk(error, directory);
  }
}

async function startIn(directory: string, options: LocalStackOptions): Promise<LocalStack> {
  const lock = takeLock(directory);
  let start: StackStart;
  try {
    start = await unlessAborted(options.signal, () => prepare(options, directory));
  } catch (error) {
    lock.release();
    throw directoryRefused(directory, error);
  }
  const stop = stopOnce(start, lock);
  try {
    const connections = await unlessAborted(options.signal, () => startServices(start));
    const processIds = (): Partial<Record<ServiceName, number>> =>
      Object.fromEntries(start.running.map((service) => [service.name, service.processId()]));
    const restart = async (names: readonly ServiceName[]): Promise<void> => {
      await Promise.all(start.running.filter(({ name }) => names.includes(name)).map((service) => service.restart()));
    };
    const { logDirectory } = start;
    return { connections, current: () => start.record.current(), logDirectory, processIds, restart, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
