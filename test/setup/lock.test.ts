import { spawn } from 'node:child_process';
import { mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lockHolder, processStart, tryLock, waitForLock } from '../../src/local/setup/lock.mjs';
import { temporaryDirectory } from '../support/servers.ts';

const LOCK_MODULE = new URL('../../src/local/setup/lock.mjs', import.meta.url).href;

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await temporaryDirectory('lock');
  path = join(directory, 'the.lock');
});
afterEach(async () => rm(directory, { recursive: true, force: true }));

async function leaveLock(owner: unknown): Promise<void> {
  await mkdir(path);
  await writeFile(join(path, 'owner.json'), JSON.stringify(owner));
}

/** Adds one to a number in a file, reading and writing it apart: two at once would lose an addition. */
async function addOneInAnotherProcess(): Promise<number | null> {
  const script = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { waitForLock } from ${JSON.stringify(LOCK_MODULE)};
    const lock = await waitForLock(${JSON.stringify(path)});
    const file = ${JSON.stringify(join(directory, 'sum'))};
    const before = Number(readFileSync(file, 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    writeFileSync(file, String(before + 1));
    lock.release();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  return new Promise((resolve) => child.once('exit', resolve));
}

describe('the lock', () => {
  test('is held by one at a time', () => {
    const lock = tryLock(path);
    expect(lock).not.toBe(null);
    expect(tryLock(path)).toBe(null);
    expect(lockHolder(path)?.processId).toBe(process.pid);
    lock?.release();
    expect(lockHolder(path)).toBe(null);
    tryLock(path)?.release();
  });

  test('twelve processes that start from a stale lock never hold it together', async () => {
    await writeFile(join(directory, 'sum'), '0');
    await leaveLock({ processId: process.pid, start: 'another process with this number', host: hostname() });
    const codes = await Promise.all(Array.from({ length: 12 }, addOneInAnotherProcess));
    expect(codes).toEqual(Array.from({ length: 12 }, () => 0));
    expect(await readFile(join(directory, 'sum'), 'utf8')).toBe('12');
    expect(await readdir(directory), 'nothing else is left').toEqual(['sum']);
  });

  test('of a process that is gone is taken over', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    const owner = { processId: child.pid, start: processStart(child.pid ?? 0), host: hostname() };
    await new Promise((resolve) => child.once('exit', resolve));
    await leaveLock(owner);
    expect(tryLock(path)).not.toBe(null);
  });

  test('of a number that was given to another process is taken over', async () => {
    await leaveLock({ processId: process.pid, start: '1', host: hostname() });
    expect(tryLock(path)).not.toBe(null);
  });

  test('of another machine is respected while it is young', async () => {
    await leaveLock({ processId: 1, start: '1', host: 'elsewhere' });
    expect(tryLock(path)).toBe(null);
    const longAgo = new Date(Date.now() - 16 * 60_000);
    await utimes(path, longAgo, longAgo);
    expect(tryLock(path)).not.toBe(null);
  });

  test("an empty folder in its place is nobody's", async () => {
    await mkdir(path);
    expect(lockHolder(path)).toBe(null);
    expect(tryLock(path)).not.toBe(null);
  });

  test('who waits is told once who holds it, and gets it when it is free', async () => {
    const lock = tryLock(path);
    const told: number[] = [];
    const waiting = waitForLock(path, (holder) => {
      told.push(holder);
      setTimeout(() => lock?.release(), 150);
    });
    (await waiting).release();
    expect(told).toEqual([process.pid]);
  });
});
