import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { errorCode } from './stack-error.ts';

/** True when the process is only an entry that its parent has not collected, as happens in containers without an init. */
function isZombie(processId: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    // The name in parentheses may hold anything, also `)`: the state follows the last one.
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) === 'Z';
  } catch {
    return false;
  }
}

/** True when a process with this id exists, also one of another user. */
export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  return !isZombie(processId);
}

/** Sends a signal; false when no such process exists. */
export function signalProcess(processId: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(processId, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** How a program ended, in words. @param status as in `ProcessExit` */
export function describeExit(status: number | null): string {
  const [signal] = Object.entries(constants.signals).find(([, number]) => status === 128 + number) ?? [];
  if (status === null) return 'was killed';
  return signal !== undefined ? `was killed (${signal})` : `ended (exit code ${status})`;
}

const POLL_MILLISECONDS = 20;

/** Waits until a process that is not our child is gone. Returns false when the time is up. */
export async function waitUntilGone(processId: number, timeoutMilliseconds: number): Promise<boolean> {
  const end = performance.now() + timeoutMilliseconds;
  while (isAlive(processId)) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
  }
  return true;
}
