import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGuardedProcess } from './guarded-process.ts';
import type { GuardedProcess } from './guarded-process.ts';
import { LOCAL_HOST } from './ports.ts';
import { StackError } from './stack-error.ts';
import type { RunningService } from './supervise.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));

export interface ProgramOptions {
  /** For messages. */
  readonly name: string;
  /** Arguments of Node: a script and its own arguments. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly logFile: string;
  readonly stopTimeoutMilliseconds: number;
}

/** Node's arguments for a command of Holdfast's own. */
export function holdfastCommand(...commandArguments: string[]): string[] {
  return [PROGRAM, ...commandArguments];
}

/** Starts a Node program that does not outlive this process. */
export async function startProgram(options: ProgramOptions): Promise<GuardedProcess> {
  return startGuardedProcess({ ...options, command: process.execPath });
}

const POLL_MILLISECONDS = 50;

/**
 * Polls until `isReady` says so.
 *
 * @param signal ends the wait; the process is stopped then.
 * @throws StackError `HOLDFAST_SERVICE_FAILED` when the process ends before, or the time is up.
 */
export async function waitUntilReady(
  name: string,
  process: GuardedProcess,
  logFile: string,
  timeoutMilliseconds: number,
  isReady: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  let status: number | null | undefined;
  void process.exited.then((exit) => (status = exit.status));
  const end = Date.now() + timeoutMilliseconds;
  while (!(await isReady())) {
    if (signal?.aborted === true) await process.stop();
    signal?.throwIfAborted();
    const ended = status !== undefined;
    if (ended || Date.now() > end) {
      await process.stop();
      const what = ended
        ? `The ${name} ended while starting (exit code ${status}).`
        : `The ${name} was not ready after ${timeoutMilliseconds} ms.`;
      throw new StackError('HOLDFAST_SERVICE_FAILED', what, `Its last lines are in ${logFile}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
}

/** True when something accepts connections on the port. */
export async function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOCAL_HOST, port, timeout: 1000 });
    const finish = (accepted: boolean) => (): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', finish(true)).once('error', finish(false)).once('timeout', finish(false));
  });
}

export interface SimulatorProcessOptions {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly workingDirectory: string;
  readonly logDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts `holdfast simulator` in a process of its own. */
export async function startSimulatorProcess(
  options: SimulatorProcessOptions,
  signal?: AbortSignal,
): Promise<RunningService> {
  const logFile = join(options.logDirectory, 'simulator.log');
  const process = await startProgram({
    name: 'simulator',
    arguments: holdfastCommand('simulator', '--port', String(options.port)),
    environment: options.environment,
    workingDirectory: options.workingDirectory,
    logFile,
    stopTimeoutMilliseconds: 3000,
  });
  await waitUntilReady('simulator', process, logFile, 30_000, async () => acceptsConnections(options.port), signal);
  return { process, stop: () => process.stop() };
}
