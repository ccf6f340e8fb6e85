import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TurnHarness } from './turn-harness.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
/** What applications import, compiled. */
const ENTRY_POINT = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

/** A worker in a process of its own, to be killed. */
export interface WorkerProcess {
  readonly processId: number;
  /** Resolves with the signal or exit code when the process is gone. */
  readonly exited: Promise<{
    readonly signal: string | null;
    readonly code: number | null;
    readonly at: number;
    readonly output: string;
  }>;
  /** What it has printed so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts `holdfast worker` in the harness's workspace and waits until it serves.
 * @param script a Node program that starts a worker of its own instead; its first argument is Holdfast's entry point
 */
export async function startWorkerProcess(
  harness: TurnHarness,
  environment: Readonly<Record<string, string>> = {},
  script?: string,
): Promise<WorkerProcess> {
  const ownArguments = script === undefined ? [PROGRAM, 'worker'] : [script, ENTRY_POINT];
  return startProcess(harness, environment, ownArguments, /worker started/u);
}

/** Starts `holdfast server` in the harness's workspace and waits until it serves. */
export async function startServerProcess(
  harness: TurnHarness,
  environment: Readonly<Record<string, string>> = {},
): Promise<WorkerProcess & { readonly url: string }> {
  const server = await startProcess(
    harness,
    environment,
    [PROGRAM, 'server', '--port', '0', '--json'],
    /"url":"(.+?)"/u,
  );
  return { ...server, url: server.said[1] ?? '' };
}

async function startProcess(
  harness: TurnHarness,
  environment: Readonly<Record<string, string>>,
  ownArguments: readonly string[],
  serves: RegExp,
) {
  const child = spawn(process.execPath, ownArguments, {
    cwd: harness.workspace,
    env: { ...process.env, ...harness.environment, HOLDFAST_LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<Awaited<WorkerProcess['exited']>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, at: Date.now(), output }));
  });
  const said = await new Promise<RegExpExecArray>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = serves.exec(output);
      if (found !== null) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exited.then(() => reject(new Error(`the process ended before it served:\n${output}`)));
  });
  return {
    processId: child.pid ?? 0,
    exited,
    said,
    output: () => output,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
  };
}
