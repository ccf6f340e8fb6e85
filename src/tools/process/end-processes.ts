import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { TOOL_CALL_MARKER } from './child-environment.ts';
import { systemErrorCode } from '../errors.ts';

/** Milliseconds between a polite SIGTERM and SIGKILL: with the abort's notice it stays within the 2 s that a stop may take. */
const POLITE_MILLISECONDS = 500;

const POLL_MILLISECONDS = 20;

/** Rounds of looking for marked processes, a second: a process that forks faster than it is killed is left after that. */
const ROUNDS = 50;

/** Reads of an environment that is empty beside arguments, until it counts as empty by choice. */
const READS = 5;

/**
 * Ends a process group: SIGTERM, and SIGKILL for what is left half a second later.
 * @param groupId Process id of the group's leader.
 */
export async function endProcessGroup(groupId: number): Promise<void> {
  if (!sendSignal(-groupId, 'SIGTERM')) return;
  for (let waited = 0; waited < POLITE_MILLISECONDS; waited += POLL_MILLISECONDS) {
    await delay(POLL_MILLISECONDS);
    if (!sendSignal(-groupId, 0)) return;
  }
  sendSignal(-groupId, 'SIGKILL');
}

/**
 * @param processId negative: of a group's leader, for the whole group
 * @returns `false` if there is no such process any more
 */
export function sendSignal(processId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(processId, signal);
    return true;
  } catch (error) {
    // EPERM: a process that took another user's rights (sudo) is there, but cannot be signalled.
    if (systemErrorCode(error) === 'ESRCH' || systemErrorCode(error) === 'EPERM') return false;
    throw error;
  }
}

/**
 * Kills every process that carries the marker of a call, wherever it hides: in a process group of its own,
 * daemonized, or left by a worker that was killed. Only on Linux, where `/proc` shows environments; what removes
 * the marker from its environment, changes its user, or runs on another machine is not found.
 * @returns Process ids that were killed.
 */
export async function killMarkedProcesses(idempotencyKey: string): Promise<readonly number[]> {
  const killed = new Set<number>();
  if (process.platform !== 'linux') return [];
  // One look is not enough: what a process forked while it was being read appears only in the next.
  let looksWithout = 0;
  for (let round = 0; round < ROUNDS && looksWithout < 2; round += 1) {
    const { marked, starting } = readProcesses();
    const found = marked.filter((each) => each.idempotencyKey === idempotencyKey);
    for (const { processId } of found) {
      if (sendSignal(processId, 'SIGKILL')) killed.add(processId);
    }
    looksWithout = found.length + starting === 0 ? looksWithout + 1 : 0;
    if (looksWithout === 0) await delay(POLL_MILLISECONDS);
  }
  return [...killed];
}

/** Process ids on this machine that carry the marker of a call; always empty where there is no `/proc`. */
export function findMarkedProcesses(idempotencyKey: string): readonly number[] {
  const found = readProcesses().marked.filter((each) => each.idempotencyKey === idempotencyKey);
  return found.map(({ processId }) => processId);
}

const MARKER = `\0${TOOL_CALL_MARKER}=`;

interface MarkedProcess {
  readonly processId: number;
  readonly idempotencyKey: string;
}

interface Look {
  readonly marked: readonly MarkedProcess[];
  /** How many processes were just replacing their program, and so showed no environment yet. */
  readonly starting: number;
}

/** Synchronously, for a fifth of the processor time: 265 processes take 4 ms, and 20 ms by the thread pool, which makes four trips for each. */
function readProcesses(): Look {
  const processes = namesIn('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const looks = processes.map(lookAtProcess);
  return {
    marked: looks.filter((look) => typeof look === 'object'),
    starting: looks.filter((look) => look === 'starting').length,
  };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function lookAtProcess(name: string): MarkedProcess | 'starting' | 'not marked' {
  const environment = readEnvironment(`/proc/${name}`);
  if (environment === 'starting') return 'starting';
  const at = environment.indexOf(MARKER);
  if (at < 0) return 'not marked';
  const start = at + MARKER.length;
  return { processId: Number(name), idempotencyKey: environment.slice(start, environment.indexOf('\0', start)) };
}

/**
 * During `execve`, Linux shows a program with neither environment nor arguments. A process without environment by
 * choice has arguments, and a thread of the kernel or a zombie has no program.
 */
function readEnvironment(directory: string): string {
  try {
    for (let read = 0; read < READS; read += 1) {
      const environment = readFileSync(`${directory}/environ`, 'utf8');
      if (environment.length > 0) return `\0${environment}\0`;
      readlinkSync(`${directory}/exe`);
      if (readFileSync(`${directory}/cmdline`, 'utf8').length === 0) return 'starting';
      // The arguments may be those of a program that has started since: its environment is to be read then.
    }
  } catch {
    // Gone meanwhile, or another user's: not ours to end.
  }
  return '';
}
