import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connectDatabase } from '../../src/store/database/database.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { parseOutput } from './cli-result.ts';
import { startCli } from './run-cli.ts';
import { runInProcess } from './run-in-process.ts';

let empty: string;

const harness = useTurnHarness();

beforeAll(async () => {
  empty = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-empty-')));
});

afterAll(async () => {
  await rm(empty, { recursive: true, force: true });
});

/** Listens nowhere: the port of a service that no test machine runs. */
const CLOSED = 'postgres://holdfast@127.0.0.1:1/holdfast';

describe('without servers', () => {
  test('flags win over the environment', async () => {
    const environment = { ...harness.environment, DATABASE_URL: CLOSED };
    const args = ['list', '--json', '--database-url', harness.databaseUrl];
    const { code, stdout } = await runInProcess(args, { environment, directory: empty });
    expect([code, JSON.parse(stdout)]).toEqual([0, { conversations: [], hasMore: false }]);
  });
});

describe('migrate', () => {
  test('prints what it applied, then that nothing is left, and refuses a newer database; before it, other commands name it', async () => {
    const url = new URL(harness.databaseUrl);
    url.search = '';
    const admin = connectDatabase({ url: url.href, maximumConnections: 1 });
    const name = `holdfast_migrate_${process.pid}`;
    await admin`create database ${admin(name)} template template0`;
    url.pathname = `/${name}`;
    const environment = { DATABASE_URL: url.href };
    try {
      const before = await runInProcess(['list'], {
        environment: { ...harness.environment, ...environment },
        directory: empty,
      });
      expect([before.code, before.stderr]).toEqual([3, expect.stringContaining('npx holdfast db migrate')]);
      const first = parseOutput(
        await runInProcess(['db', 'migrate', '--json'], { environment, directory: empty }),
        z.object({ applied: z.array(z.string()) }),
      );
      expect(first.applied[0]).toMatch(/^000001_.*\.sql$/u);
      const second = await runInProcess(['db', 'migrate'], { environment, directory: empty });
      expect([second.code, second.stdout]).toEqual([0, 'The database is up to date.\n']);
      const apart = await runInProcess(['db', 'migrate', '--tenants'], { environment, directory: empty });
      expect(apart.stdout).toBe('The database is up to date.\nRow-level security keeps tenants apart.\n');
      const all = { ...harness.environment, ...environment };
      const keys = await runInProcess(['keys', 'list'], { environment: all, directory: empty });
      expect([keys.code, keys.stdout]).toEqual([0, 'No key.\n']);
      const database = connectDatabase({ url: url.href, maximumConnections: 1 });
      await database`insert into migrations (name, checksum) values ('999999_next.sql', 'unknown')`;
      await database.end();
      const older = await runInProcess(['db', 'migrate'], { environment, directory: empty });
      expect([older.code, older.stderr]).toEqual([3, expect.stringMatching(/database_differs.*999999_next/su)]);
      const settings = { environment: { ...harness.environment, ...environment }, directory: empty };
      const refused = await runInProcess(['list'], settings);
      expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('999999_next')]);
      const verified = await runInProcess(['verify', '--no-histories'], { environment, directory: empty });
      expect([verified.code, verified.stderr]).toEqual([3, expect.stringContaining('999999_next')]);
    } finally {
      await admin`drop database ${admin(name)} with (force)`;
      await admin.end();
    }
  });
});

describe('simulator', () => {
  test('prints its address, answers, and ends in order on SIGTERM', async () => {
    const running = startCli(['simulator', '--port', '0', '--json'], { directory: empty });
    await waitUntil('it listens', () => running.stdout().endsWith('\n'));
    const { url, port } = z.object({ url: z.string(), port: z.number() }).parse(JSON.parse(running.stdout()));
    expect((await fetch(`${url}/v1/models`)).status).toBe(200);
    const taken = await runInProcess(['simulator', '--port', String(port)], { directory: empty });
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringMatching(/is taken\.\nnext: .*--port/u)]);
    running.process.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
  });
});

describe('worker', () => {
  test('without one, start says so and what to do; once one runs, the turn is shown; SIGTERM ends it in order', async () => {
    const options = {
      environment: { ...harness.environment, HOLDFAST_LOG_LEVEL: 'info' },
      directory: harness.workspace,
    };
    const starting = startCli(['start', 'Say At last.'], options);
    await waitUntil('the warning', () => starting.stderr().includes('waited for a worker'));
    expect(starting.stderr()).toContain('npx holdfast worker');
    const worker = startCli(['worker'], options);
    const started = await starting.ended;
    expect(started.code).toBe(0);
    expect(started.stdout).toContain('\nAt last.\n');
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('a reader that closes the pipe is no error', async () => {
    const running = startCli(['list', '--json'], { environment: harness.environment, directory: empty });
    running.process.stdout?.destroy();
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([0, '']);
  });
});
