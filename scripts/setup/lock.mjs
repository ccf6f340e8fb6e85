import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A lock folder without an owner file is being made, or its maker died in between: after this time it is the latter. */
const OWNERLESS_MILLISECONDS = 5000;
/** Where the owner runs on another machine (a shared folder), only age can tell whether it is gone. */
const FOREIGN_MILLISECONDS = 15 * 60_000;
const POLL_MILLISECONDS = 100;

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

/**
 * @typedef {{ processId: number, start: string | null, host: string }} LockOwner
 * @typedef {{ release: () => void }} Lock
 */

/** @param {string} path */
function readOwner(path) {
  try {
    /** @type {LockOwner} */
    const owner = JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8'));
    return owner;
  } catch {
    return null;
  }
}

/** @param {string} path */
function ageMilliseconds(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/**
 * Who holds the lock, or null when nobody does: not taken, or its owner is gone.
 *
 * @param {string} path
 * @returns {LockOwner | { processId: null } | null}
 */
export function lockHolder(path) {
  const owner = readOwner(path);
  if (owner === null) {
    const age = ageMilliseconds(path);
    return age > 0 && age < OWNERLESS_MILLISECONDS ? { processId: null } : null;
  }
  if (owner.host !== hostname()) return ageMilliseconds(path) < FOREIGN_MILLISECONDS ? owner : null;
  return processStart(owner.processId) === owner.start && owner.start !== null ? owner : null;
}

/** @param {string} path */
function makeFolder(path) {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes a lock whose owner is gone. Only one process at a time may judge and remove, or a second one could remove the lock
 * that a third has just taken.
 *
 * @param {string} path
 */
function removeStale(path) {
  const judge = `${path}.judge`;
  if (!makeFolder(judge)) {
    if (ageMilliseconds(judge) > OWNERLESS_MILLISECONDS) rmSync(judge, { recursive: true, force: true });
    return;
  }
  try {
    if (lockHolder(path) === null) rmSync(path, { recursive: true, force: true });
  } finally {
    rmSync(judge, { recursive: true, force: true });
  }
}

/**
 * Takes the lock, or returns null when a living process holds it. A folder, because making one is atomic everywhere.
 *
 * @param {string} path
 * @returns {Lock | null}
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  if (!makeFolder(path)) {
    if (lockHolder(path) !== null) return null;
    removeStale(path);
    if (!makeFolder(path)) return null;
  }
  const owner = { processId: process.pid, start: processStart(process.pid), host: hostname() };
  writeFileSync(join(path, 'owner.json'), JSON.stringify(owner));
  return { release: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Takes the lock, waiting for its holder.
 *
 * @param {string} path
 * @param {(holder: number | null) => void} [onWait] called once, with the holder's process id when it is known
 * @returns {Promise<Lock>}
 */
export async function waitForLock(path, onWait) {
  let told = false;
  for (;;) {
    const lock = tryLock(path);
    if (lock !== null) return lock;
    if (!told) onWait?.(lockHolder(path)?.processId ?? null);
    told = true;
    await delay(POLL_MILLISECONDS);
  }
}
