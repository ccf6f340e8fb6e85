import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Judging takes a few file operations: who takes longer was killed in between. */
const JUDGE_MILLISECONDS = 5000;
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

/** @param {string} path @param {LockOwner} owner */
function isHeld(path, owner) {
  if (owner.host !== hostname()) return ageMilliseconds(path) < FOREIGN_MILLISECONDS;
  return owner.start !== null && processStart(owner.processId) === owner.start;
}

/**
 * Who holds the lock, or null when nobody does: not taken, or its owner is gone.
 *
 * @param {string} path
 * @returns {LockOwner | null}
 */
export function lockHolder(path) {
  const owner = readOwner(path);
  return owner !== null && isHeld(path, owner) ? owner : null;
}

/** @param {unknown} error @param {string} code */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** @param {string} path */
function makeFolder(path) {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
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
    if (ageMilliseconds(judge) > JUDGE_MILLISECONDS) rmSync(judge, { recursive: true, force: true });
    return;
  }
  try {
    const owner = readOwner(path);
    // Only what has an owner: where nothing stands now, another process may put its own at any moment.
    if (owner !== null && !isHeld(path, owner)) removeWhole(path);
  } finally {
    rmSync(judge, { recursive: true, force: true });
  }
}

/** A path beside the lock's that no other process uses. @param {string} path */
function ownPath(path) {
  return `${path}.${process.pid}.${randomUUID()}`;
}

/**
 * Removes a lock in one step: emptied first, it would look free while its folder is still being taken down.
 *
 * @param {string} path
 */
function removeWhole(path) {
  const aside = ownPath(path);
  try {
    renameSync(path, aside);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}

/**
 * Puts a folder that names this process where the lock is. A rename fails where a folder with content stands, everywhere and
 * in one step: so a lock is never seen without its owner.
 *
 * @param {string} path
 */
function putOwner(path) {
  const own = ownPath(path);
  mkdirSync(own);
  const owner = { processId: process.pid, start: processStart(process.pid), host: hostname() };
  try {
    writeFileSync(join(own, 'owner.json'), JSON.stringify(owner));
    renameSync(own, path);
    return true;
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Takes the lock, or returns null when a living process holds it.
 *
 * @param {string} path
 * @returns {Lock | null}
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  if (!putOwner(path)) {
    if (lockHolder(path) !== null) return null;
    removeStale(path);
    if (!putOwner(path)) return null;
  }
  return { release: () => removeWhole(path) };
}

/**
 * Takes the lock, waiting for its holder.
 *
 * @param {string} path
 * @param {(holder: number) => void} [onWait] called once, with the holder's process id
 * @returns {Promise<Lock>}
 */
export async function waitForLock(path, onWait) {
  let told = false;
  for (;;) {
    const lock = tryLock(path);
    if (lock !== null) return lock;
    const holder = lockHolder(path);
    // Free again since: try at once, and tell nobody of a wait that is none.
    if (holder === null) continue;
    if (!told) onWait?.(holder.processId);
    told = true;
    await delay(POLL_MILLISECONDS);
  }
}
