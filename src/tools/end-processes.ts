import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { TOOL_CALL_MARKER } from './child-environment.ts';
import { systemErrorCode } from './errors.ts';

/** Milliseconds between a polite SIGTERM and SIGKILL: with the abort's notice it stays within the 2 s that a stop may take. */
const POLITE_MILLISECONDS = 500;

const POLL_MILLISECONDS = 20;

/** Rounds of looking for marked processes; a process that forks faster than it is killed is left after that. */
const ROUNDS = 20;

/**
 * Ends a process group: SIGTERM, and SIGKILL for what is left half a second later.
 * @param groupId Process id of the group's leader.
 */
export async function endProcessGroup(groupId: number): Promise<void> {
  if (!signalGroup(groupId, 'SIGTERM')) return;
  for (let waited = 0; waited < POLITE_MILLISECONDS; waited += POLL_MILLISECONDS) {
    await delay(POLL_MILLISECONDS);
    if (!signalGroup(groupId, 0)) return;
  }
  killProcessGroup(groupId);
}

/** Ends a process group at once. */
export function killProcessGroup(groupId: number): void {
  signalGroup(groupId, 'SIGKILL');
}

/** `false` when the group has no process any more. */
function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  return sendSignal(-groupId, signal);
}

function sendSignal(processId: number, signal: NodeJS.Signals | 0): boolean {
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
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await findMarkedProcesses(idempotencyKey);
    if (found.length === 0) break;
    for (const processId of found) {
      if (sendSignal(processId, 'SIGKILL')) killed.add(processId);
    }
    await delay(POLL_MILLISECONDS);
  }
  return [...killed];
}

/** Process ids on this machine that carry the marker of a call; always empty where there is no `/proc`. */
export async function findMarkedProcesses(idempotencyKey: string): Promise<readonly number[]> {
  return (await markedProcesses()).flatMap((found) =>
    found.idempotencyKey === idempotencyKey ? [found.processId] : [],
  );
}

/** Idempotency keys of all calls that have a process on this machine, whoever started it. */
export async function findMarkedCalls(): Promise<readonly string[]> {
  return [...new Set((await markedProcesses()).map(({ idempotencyKey }) => idempotencyKey))];
}

const MARKER = Buffer.from(`\0${TOOL_CALL_MARKER}=`);

async function markedProcesses(): Promise<{ readonly processId: number; readonly idempotencyKey: string }[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  const found = names
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(async (name) => {
      // Gone meanwhile, or another user's: not ours to end.
      const environment = await readFile(`/proc/${name}/environ`).catch(() => Buffer.alloc(0));
      const text = Buffer.concat([Buffer.from('\0'), environment, Buffer.from('\0')]);
      const at = text.indexOf(MARKER);
      if (at < 0) return [];
      const start = at + MARKER.length;
      return [{ processId: Number(name), idempotencyKey: text.toString('utf8', start, text.indexOf(0, start)) }];
    });
  return (await Promise.all(found)).flat();
}
