import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGuardedProcess } from './guarded-process.ts';
import type { GuardedProcess } from './guarded-process.ts';
import { followLog } from './log-tail.ts';
import type { RunningService } from './supervise.ts';
import { waitUntilReady } from './wait-until-ready.ts';

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

export interface HttpProcessOptions {
  /** Of the command, too. */
  readonly name: 'simulator' | 'server';
  /** On 127.0.0.1. */
  readonly port: number;
  readonly workingDirectory: string;
  readonly logDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts `holdfast simulator` or `holdfast server` in a process of its own. */
export async function startHttpProcess(options: HttpProcessOptions, signal?: AbortSignal): Promise<RunningService> {
  const { name } = options;
  const logFile = join(options.logDirectory, `${name}.log`);
  const readLog = await followLog(logFile);
  const process = await startProgram({
    name,
    arguments: holdfastCommand(name, '--port', String(options.port), '--json'),
    environment: options.environment,
    workingDirectory: options.workingDirectory,
    logFile,
    stopTimeoutMilliseconds: 3000,
  });
  await waitUntilReady({
    name,
    process,
    logFile,
    readLog,
    // Its own words: something else may listen on the port.
    isReady: async () => (await readLog()).includes(`"port":${options.port}`),
    signal,
  });
  return { process, stop: () => process.stop() };
}
