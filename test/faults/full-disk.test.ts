import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { checkDisk, checkWritable } from '../../src/local/doctor/check-installation.ts';
import { choosePort } from '../../src/local/ports.ts';
import { startLocalStack } from '../../src/local/stack.ts';
import type { LocalStack } from '../../src/local/stack.ts';
import type { ServiceEvent } from '../../src/local/supervise.ts';
import { createLogger } from '../../src/temporal/process-logger.ts';
import { temporaryDirectory } from '../support/servers.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startSteadyTurn } from './steady-turn.ts';

let project: string;
/** The state folder, on a disk of 160 MB. */
let directory: string;

beforeAll(async () => {
  project = await temporaryDirectory('full-disk');
  directory = join(project, '.holdfast');
  await mkdir(directory);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=755', 'tmpfs', directory]);
});
afterAll(async () => {
  execFileSync('umount', ['-l', directory]);
  await rm(project, { recursive: true, force: true });
});

/** Takes all room. @returns what gives it back */
function fillDisk(): () => Promise<void> {
  const path = join(directory, 'ballast');
  const file = openSync(path, 'w');
  const zeros = Buffer.alloc(4_096);
  try {
    for (;;) writeSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
  return () => rm(path);
}

const events: ServiceEvent[] = [];

const readyTimes = (): number => events.filter(({ kind }) => kind === 'ready').length;

async function startStack(): Promise<LocalStack> {
  // Below the ports that the system gives to outgoing connections: one of those could take it while Postgres is down.
  const port = await choosePort(12_000 + Math.floor(Math.random() * 18_000));
  return startLocalStack({
    directory,
    services: ['postgres'],
    environment: { TEMPORAL_ADDRESS: inject('temporalAddress') },
    ports: { postgres: port },
    onEvent: (event) => events.push(event),
  });
}

/** Begins the next segment of the log of Postgres, which a turn would take minutes for. */
async function useUpLog(url: string): Promise<void> {
  const admin = postgres(url, { max: 1, connect_timeout: 2, fetch_types: false, onnotice: () => undefined });
  try {
    await admin`select pg_switch_wal()`;
    await admin`select txid_current()`;
  } catch {
    // It is down.
  } finally {
    await admin.end({ timeout: 1 });
  }
}

/** The same server, as its superuser and not in the role of the application. */
function asSuperuser(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.search = '';
  return url.href;
}

describe('on a full disk', () => {
  test('a stack does not start and says why, and so does the doctor', async () => {
    const empty = fillDisk();
    await expect(startStack()).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining(`The disk of ${directory}`),
      fix: expect.stringContaining('Make room'),
    });
    expect(await checkWritable(directory)).toMatchObject({ status: 'broken', fix: 'make room on its disk' });
    expect(await checkDisk(directory)).toMatchObject({ status: 'broken', detail: expect.stringContaining('0.0 GB') });
    await empty();
    expect((await readdir(directory)).filter((name) => name.startsWith('stack.json'))).toEqual([]);
  });

  test('lines of a log wait for room', async () => {
    const path = join(directory, 'worker.log');
    const file = openSync(path, 'w');
    const logger = createLogger('info', file);
    const empty = fillDisk();
    logger.info('while it is full');
    await empty();
    logger.info('with room');
    closeSync(file);
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['while it is full', 'with room']);
  });

  describe('a turn', () => {
    let stack: LocalStack;
    let harness: TurnHarness;
    beforeAll(async () => {
      stack = await startStack();
      harness = await startTurnHarness({
        databaseServer: asSuperuser(stack.connections.databaseUrl),
        agent: { allowCommands: true },
      });
      await harness.startWorker();
    });
    afterAll(async () => {
      await harness.stop();
      await stack.stop();
    });

    test('waits while Postgres is refused its next row and then its log, and goes on when there is room', async () => {
      const turn = await startSteadyTurn(harness);
      const empty = fillDisk();
      await waitUntil('Postgres cannot start', async () => {
        await useUpLog(asSuperuser(stack.connections.databaseUrl));
        return events.some((event) => event.kind === 'restart_failed');
      });
      const failed = events.find((event) => event.kind === 'restart_failed');
      expect(failed?.error).toMatchObject({ code: 'disk_full' });
      await expect(harness.client.start('Say hello')).rejects.toMatchObject({
        code: 'database_unreachable',
      });
      const before = readyTimes();
      await empty();
      await waitUntil('Postgres is back', () => readyTimes() > before);
      await turn.completes();
    });
  });
});
