import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { signalProcess, waitUntilGone } from './process-signals.ts';
import { StackError } from './stack-error.ts';
import type { SystemUser } from './postgres/unprivileged-user.ts';

/**
 * Starts the program and waits for it; when the pipe on its standard input closes because its starter died, even by
 * SIGKILL, it stops the program. A shell, because it costs 1 MB where a Node process costs 45, exists on Linux and macOS
 * alike (Linux's parent-death signal does not), and works for programs that are not ours. The watching part is a process
 * of its own, so the program is also stopped when only the shell is killed and the starter later dies. At the end the whole
 * process group is asked to go: the watcher, and children that the program left behind.
 */
const GUARD = `
signal=$1; grace=$2; shift 2
exec 4<&0 </dev/null
"$@" 3>&- 4<&- &
child=$!
echo "$child" >&3
exec 3>&-
(
  while read -r line <&4; do :; done
  kill -s "$signal" "$child" 2>/dev/null
  tries=0
  while [ "$tries" -lt "$grace" ] && kill -0 "$child" 2>/dev/null; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL "$child" 2>/dev/null
) >/dev/null 2>&1 &
exec 4<&-
wait "$child"
status=$?
trap '' TERM
kill -s TERM 0
exit "$status"
`;

export interface GuardedProcessOptions {
  /** For messages: `Postgres`, `Temporal`, `worker`. */
  readonly name: string;
  /** Absolute path of the program. */
  readonly command: string;
  readonly arguments: readonly string[];
  /** The whole environment of the program; nothing is inherited, so that no model key reaches a database server. */
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** Another user to run as; only root can ask for one. Default: the current one. */
  readonly user?: SystemUser | null;
  /** Output is appended here. Default: it is dropped. */
  readonly logFile?: string;
  /** What asks the program to stop in good order. Default: TERM. */
  readonly stopSignal?: 'INT' | 'TERM';
  /** Time from the stop signal to SIGKILL, milliseconds. Default: 5,000. */
  readonly stopTimeoutMilliseconds?: number;
}

export interface ProcessExit {
  /** As a shell reports it: 128 + the signal's number when a signal ended it. `null`: the guard itself was killed. */
  readonly status: number | null;
}

export interface GuardedProcess {
  /** Of the program, not of its guard. */
  readonly processId: number;
  /** Settles when the program is gone. */
  readonly exited: Promise<ProcessExit>;
  /** Asks the program to stop, kills it after the time limit, and returns when it is gone. */
  stop(): Promise<void>;
  /** Sends a signal to the program. Returns false when it is already gone. */
  kill(signal: NodeJS.Signals): boolean;
}

/**
 * All that a database server or Temporal needs of an environment: no model key gets there, nor settings such as PGDATA or
 * TEMPORAL_ADDRESS meant for others, nor a HOME, in which Temporal's CLI would make itself a folder. C and UTC for messages, sorting and times that are the same everywhere.
 */
export function serverEnvironment(): Record<string, string> {
  return { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', TMPDIR: tmpdir() };
}

/** Past its own time limit the guard's watcher is not there any more: somebody killed it. */
const GUARD_SLACK_MILLISECONDS = 2000;

/** The program's id is the only thing that the guard writes on descriptor 3. */
async function readProcessId(stream: Readable): Promise<number | null> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  const processId = Number.parseInt(text, 10);
  return Number.isSafeInteger(processId) && processId > 0 ? processId : null;
}

function spawnGuard(options: GuardedProcessOptions, graceTenths: number): ChildProcess {
  const log = options.logFile === undefined ? 'ignore' : openSync(options.logFile, 'a', 0o600);
  try {
    const user = options.user ?? null;
    const guardArguments = [options.stopSignal ?? 'TERM', String(graceTenths), options.command, ...options.arguments];
    return spawn('/bin/sh', ['-c', GUARD, 'holdfast-guard', ...guardArguments], {
      cwd: options.workingDirectory,
      env: options.environment,
      stdio: ['pipe', log, log, 'pipe'],
      // A process group of its own: Ctrl-C reaches only the starter, which stops its children in order.
      detached: true,
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
  } finally {
    if (typeof log === 'number') closeSync(log);
  }
}

/** Takes down a program whose guard was killed: nobody waits for it any more. */
async function takeDownOrphan(processId: number): Promise<void> {
  if (signalProcess(processId, 'SIGTERM') && !(await waitUntilGone(processId, 2000))) {
    signalProcess(processId, 'SIGKILL');
    await waitUntilGone(processId, 2000);
  }
}

/**
 * Starts a program that does not outlive this process.
 *
 * @throws StackError `service_failed` when it cannot be started at all.
 */
export async function startGuardedProcess(options: GuardedProcessOptions): Promise<GuardedProcess> {
  const stopTimeoutMilliseconds = options.stopTimeoutMilliseconds ?? 5000;
  const guard = spawnGuard(options, Math.ceil(stopTimeoutMilliseconds / 100));
  // The guard's end closes these pipes; an error on them says nothing that `exited` does not.
  guard.stdin?.on('error', () => undefined);
  const guardEnded = new Promise<number | null>((resolve, reject) => {
    guard.once('error', reject);
    guard.once('exit', (code) => resolve(code));
  });
  // Handled below; without this a spawn that fails would be reported as unhandled while we read the id.
  guardEnded.catch(() => undefined);
  const report = guard.stdio[3];
  const processId = report instanceof Readable ? await readProcessId(report) : null;
  if (processId === null) {
    const reason = await guardEnded.then(
      (code) => `exit code ${code}`,
      (error: unknown) => String(error),
    );
    throw new StackError(
      'service_failed',
      `${options.name} could not be started: ${reason}.`,
      `Check that ${options.command} can be run.`,
    );
  }
  const exited = guardEnded.then(async (status): Promise<ProcessExit> => {
    guard.stdin?.destroy();
    if (status === null) await takeDownOrphan(processId);
    return { status };
  });
  return {
    processId,
    exited,
    kill: (signal) => signalProcess(processId, signal),
    stop: async () => {
      // Closing the pipe is the stop: the guard then does what it does when we die, so there is one path to get right.
      guard.stdin?.end();
      const overdue = setTimeout(
        () => signalProcess(processId, 'SIGKILL'),
        stopTimeoutMilliseconds + GUARD_SLACK_MILLISECONDS,
      );
      await exited.finally(() => clearTimeout(overdue));
    },
  };
}
