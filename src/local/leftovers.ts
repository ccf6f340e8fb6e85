import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { processStart } from './setup/lock.mjs';
import { isAlive, signalProcess, waitUntilGone } from './process-signals.ts';

/** A process as the stack file remembers it. */
export interface RememberedProcess {
  readonly processId: number;
  /** When it started, in the system's words; with the id it names one process for good. */
  readonly start: string;
}

const STOP_MILLISECONDS = 10_000;

/** SIGTERM, and SIGKILL after ten seconds. */
async function takeDown(processId: number, signal: NodeJS.Signals): Promise<void> {
  if (!signalProcess(processId, signal)) return;
  if (await waitUntilGone(processId, STOP_MILLISECONDS)) return;
  signalProcess(processId, 'SIGKILL');
  await waitUntilGone(processId, STOP_MILLISECONDS);
}

/** Ends the processes of an earlier stack that still run. Returns how many there were. */
export async function takeDownRemembered(processes: readonly RememberedProcess[]): Promise<number> {
  const alive = processes.filter(({ processId, start }) => processStart(processId) === start);
  await Promise.all(alive.map(async ({ processId }) => takeDown(processId, 'SIGTERM')));
  return alive.length;
}

/** The command line of a process, or an empty text when there is none. */
function commandLine(processId: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${processId}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(processId)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}

/**
 * Makes a data folder ready for a new server: ends a Postgres that outlived its starter, and removes a `postmaster.pid` whose
 * number now belongs to another program (usual after a container's restart), which Postgres would take for a running server.
 * The caller holds the stack's lock, so a server on this folder is nobody's.
 *
 * @returns true when a server was running
 */
export async function releaseDataDirectory(dataDirectory: string): Promise<boolean> {
  const file = join(dataDirectory, 'postmaster.pid');
  const processId = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10);
  if (!Number.isSafeInteger(processId) || processId <= 0) return false;
  const isServer = isAlive(processId) && commandLine(processId).includes(dataDirectory);
  // INT is Postgres's fast shutdown: no new recovery for the next start.
  if (isServer) await takeDown(processId, 'SIGINT');
  else await rm(file, { force: true });
  return isServer;
}
