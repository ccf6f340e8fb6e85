import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MILLISECONDS = 100;
/** Between making the file and writing who holds it: who takes longer was killed in between. */
const WRITE_MILLISECONDS = 5000;

/**
 * When a process started, in the system's own words; with the id it names one process for good, since ids are used again.
 * Null when there is no such process.
 *
 * @param {number} processId
 */
export function processStart(processId) {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
      // Fields after the name in parentheses, which may hold anything: state is the first, start time the twentieth.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? null : (fields[19] ?? null);
    }
    return (
      execFileSync('ps', ['-o', 'lstart=', '-p', String(processId)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim() || null
    );
  } catch {
    return null;
  }
}

/** @typedef {{ release: () => void }} Lock */

/**
 * The process that a lock file names; null where there is none, or not yet.
 *
 * @param {string} path
 * @returns {{ processId: number, start: string | null } | null}
 */
function readOwner(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** @param {ReturnType<typeof readOwner>} owner */
function isAlive(owner) {
  return owner !== null && owner.start !== null && processStart(owner.processId) === owner.start;
}

/**
 * The id of the living process that holds the lock, or null.
 *
 * @param {string} path
 * @returns {number | null}
 */
export function lockHolder(path) {
  const owner = readOwner(path);
  return owner !== null && isAlive(owner) ? owner.processId : null;
}

/**
 * Whether a living process holds the lock, or is just writing that it does. Reads the file once, because it may be written meanwhile.
 *
 * @param {string} path
 */
function isHeld(path) {
  const owner = readOwner(path);
  if (owner !== null) return isAlive(owner);
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs < WRITE_MILLISECONDS;
}

/**
 * Takes the lock, or returns null when a living process holds it. Two that find the lock of a dead process in the same instant may
 * both take it: what it guards here bears that (npm, and Postgres by a lock of its own).
 *
 * @param {string} path of a file that names the holder
 * @returns {Lock | null}
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const lock = createLock(path);
  if (lock !== null || isHeld(path)) return lock;
  rmSync(path, { recursive: true, force: true });
  return createLock(path);
}

/**
 * Null where there is a file already.
 *
 * @param {string} path
 * @returns {Lock | null}
 */
function createLock(path) {
  try {
    const owner = { processId: process.pid, start: processStart(process.pid) };
    writeFileSync(path, JSON.stringify(owner), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return null;
    // On a full disk the file is made and nothing gets into it.
    rmSync(path, { force: true });
    throw error;
  }
  return { release: () => rmSync(path, { force: true }) };
}

/**
 * Takes the lock, waiting for its holder.
 *
 * @param {string} path
 * @param {(holder: number) => void} onWait called once, with the holder's process id
 * @returns {Promise<Lock>}
 */
export async function waitForLock(path, onWait) {
  for (let isTold = false; ; await delay(POLL_MILLISECONDS)) {
    const lock = tryLock(path);
    if (lock !== null) return lock;
    const holder = lockHolder(path);
    if (holder !== null && !isTold) onWait(holder);
    isTold ||= holder !== null;
  }
}
