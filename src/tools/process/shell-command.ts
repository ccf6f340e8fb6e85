import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { TOOL_CALL_MARKER } from './child-environment.ts';
import { endProcessGroup, killMarkedProcesses, sendSignal } from './end-processes.ts';
import { ToolError } from '../errors.ts';

/** Milliseconds to wait for the rest of the output after the command has ended and its processes are gone. */
const DRAIN_MILLISECONDS = 1_000;

export interface ShellCommand {
  readonly command: string;
  /** Absolute path. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The value of the marker in the environment. */
  readonly idempotencyKey: string;
  readonly timeoutMilliseconds: number;
  /** Output over this many bytes ends the command. */
  readonly outputLimitBytes: number;
  readonly signal: AbortSignal;
  /** Awaited before more is read, so that a fast command waits for a slow disk. */
  readonly onOutput: (bytes: Uint8Array) => Promise<void>;
}

export interface CommandEnd {
  readonly cause: 'exited' | 'timed_out' | 'too_much_output' | 'aborted';
  readonly exitCode: number | null;
  /** Name of the signal that ended the command. */
  readonly endedBy: string | null;
}

/**
 * Gives the command one pipe for both outputs, so that their order is right, and a watcher in its process group that
 * acts when the worker dies: it holds the other end of a pipe that only the worker keeps open. It kills what left the
 * group, by the marker in its environment as `killMarkedProcesses` does, and then the group with itself.
 */
const LAUNCHER = `
((trap '' HUP INT; read -r _ <&3; read -r own _ </proc/self/stat
for look in 1 2 3; do
  for path in $(grep -slzFx "${TOOL_CALL_MARKER}=$${TOOL_CALL_MARKER}" /proc/[0-9]*/environ); do
    id=\${path#/proc/} id=\${id%/environ}
    [ "$id" = "$own" ] || kill -KILL "$id"
  done
done
kill -KILL -$$) </dev/null >/dev/null 2>&1 &)
exec "$0" -c "$1" 2>&1 3<&-
`;

/**
 * Runs a shell command in a process group of its own. When it has ended, for whatever reason, nothing that it
 * started is left: the group is killed, and what left the group is found by the marker in its environment.
 * @throws ToolError `unsupported` on Windows.
 */
export async function runShellCommand(command: ShellCommand): Promise<CommandEnd> {
  if (process.platform === 'win32') throw new ToolError('unsupported', 'Commands cannot be run on Windows.');
  const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
  const child = spawn('/bin/sh', ['-c', LAUNCHER, shell, command.command], {
    cwd: command.directory,
    env: command.environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  // Nothing is sent through the watcher's pipe; that its other end is gone is no news.
  child.stdio[3]?.on('error', () => undefined);
  const exit = exitOf(child);
  await started(child);
  const groupId = child.pid ?? 0;
  let cause: CommandEnd['cause'] = 'exited';
  const over = new AbortController();
  const end = (why: Exclude<CommandEnd['cause'], 'exited'>): void => {
    if (!over.signal.aborted) cause = why;
    over.abort();
  };
  const timer = setTimeout(() => end('timed_out'), command.timeoutMilliseconds);
  const aborted = (): void => end('aborted');
  command.signal.addEventListener('abort', aborted, { once: true, signal: over.signal });
  if (command.signal.aborted) aborted();
  const output = passOutput(child, command, () => end('too_much_output'));
  try {
    if (!over.signal.aborted) await Promise.race([exit, once(over.signal, 'abort')]);
    if (over.signal.aborted) await endProcessGroup(groupId);
    sendSignal(-groupId, 'SIGKILL');
    await killMarkedProcesses(command.idempotencyKey);
    const { exitCode, endedBy } = await exit;
    await output.finished();
    return { cause, exitCode, endedBy };
  } finally {
    clearTimeout(timer);
    over.abort();
    child.stdout?.destroy();
    child.stdio[3]?.destroy();
  }
}

async function started(child: ChildProcess): Promise<void> {
  try {
    if (child.pid === undefined) await once(child, 'spawn');
  } catch (error) {
    throw new ToolError(
      'unsupported',
      'The command could not be started: the workspace or the shell is missing, or no process is left.',
      {
        cause: error,
      },
    );
  }
}

function exitOf(child: ChildProcess): Promise<Pick<CommandEnd, 'exitCode' | 'endedBy'>> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, endedBy) => resolve({ exitCode, endedBy }));
  });
}

/** @param end called when the output is over its limit, or cannot be taken */
function passOutput(child: ChildProcess, command: ShellCommand, end: () => void) {
  let failure: unknown = null;
  let bytes = 0;
  async function pass(): Promise<void> {
    for await (const chunk of child.stdout ?? []) {
      if (!(chunk instanceof Uint8Array)) continue;
      bytes += chunk.length;
      if (bytes > command.outputLimitBytes) {
        end();
        return;
      }
      await command.onOutput(chunk);
    }
  }
  const passed = pass().catch((error: unknown) => {
    failure = error;
    end();
  });
  return {
    /** Waits for the rest of the output; not for ever, since a process out of reach may hold the pipe. */
    async finished(): Promise<void> {
      const timer = setTimeout(() => child.stdout?.destroy(), DRAIN_MILLISECONDS);
      await passed;
      clearTimeout(timer);
      if (failure !== null && !isPrematureClose(failure)) throw failure;
    },
  };
}

function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
