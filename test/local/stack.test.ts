import { createServer } from 'node:net';
import { chmod, lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AS_APPLICATION } from '../../src/local/postgres/postgres-login.ts';
import { freePort, LOCAL_HOST } from '../../src/local/ports.ts';
import { isStackRunning, startLocalStack } from '../../src/local/stack.ts';
import type { LocalStack } from '../../src/local/stack.ts';
import type { LocalStackOptions } from '../../src/local/stack-options.ts';
import { readStack, writeStack } from '../../src/local/stack-file.ts';
import type { ServiceEvent, ServiceName } from '../../src/local/supervise.ts';
import { isAlive } from '../../src/local/process-signals.ts';
import { temporaryDirectory } from '../support/servers.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A stack whose Temporal is somebody else's, for what only Postgres is needed for. */
const ONLY_POSTGRES: Partial<LocalStackOptions> = {
  services: ['postgres'],
  environment: { TEMPORAL_ADDRESS: 'temporal.example:7233' },
};

const WORKER_COMMAND = [fileURLToPath(new URL('../support/polling-worker.mjs', import.meta.url))];

// One folder for all: each start makes do with what the one before left there.
let project: string;
let directory: string;
let stacks: LocalStack[];
let events: ServiceEvent[];
beforeAll(async () => {
  project = await temporaryDirectory('stack');
  directory = join(project, '.holdfast');
});
beforeEach(() => {
  stacks = [];
  events = [];
});
afterEach(async () => {
  await Promise.all(stacks.map(async (stack) => stack.stop()));
});
afterAll(async () => rm(project, { recursive: true, force: true }));

/** Ports of a test's own, since several stacks run on one machine. */
async function start(options: Partial<LocalStackOptions> = {}): Promise<LocalStack> {
  const stack = await startLocalStack({
    directory,
    services: ['postgres', 'temporal', 'worker'],
    environment: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] },
    workerCommand: WORKER_COMMAND,
    isAnyPortGood: true,
    onEvent: (event) => events.push(event),
    ...options,
  });
  stacks.push(stack);
  return stack;
}

async function query(stack: LocalStack, text: string): Promise<postgres.Row[]> {
  const sql = postgres(stack.connections.databaseUrl.replace(AS_APPLICATION, ''), { max: 1 });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end();
  }
}

/** Files and folders that another user than their owner could read or write; of folders, passing through is no reading. */
async function readableByOthers(path: string): Promise<string[]> {
  const found = await lstat(path);
  if (!found.isDirectory()) return (found.mode & 0o077) === 0 ? [] : [path];
  const below = await Promise.all((await readdir(path)).map(async (name) => readableByOthers(join(path, name))));
  return [...((found.mode & 0o066) === 0 ? [] : [path]), ...below.flat()];
}

function readyTimes(service: ServiceName): number {
  return events.filter((event) => event.kind === 'ready' && event.service === service).length;
}

describe('the local stack', () => {
  test('starts everything, migrated, starts each killed service again, and stops it in order, leaving no process; no secret gets into stack.json, nor a model key to Postgres or Temporal', async () => {
    const key = 'sk-planted-key';
    const { PATH, HOME, TMPDIR } = process.env;
    const stack = await start({ environment: { PATH, HOME, TMPDIR, ANTHROPIC_API_KEY: key } });
    const file = await readFile(join(directory, 'stack.json'), 'utf8');
    expect(file).not.toContain(key);
    expect(file).not.toContain(new URL(stack.connections.databaseUrl).password);
    const environmentOf = async (service: ServiceName): Promise<string> =>
      process.platform === 'linux' ? readFile(`/proc/${stack.processIds()[service]}/environ`, 'utf8') : '';
    expect(await environmentOf('postgres')).not.toContain(key);
    expect(await environmentOf('temporal')).not.toContain(key);
    if (process.platform === 'linux') expect(await environmentOf('worker')).toContain(key);
    expect(await query(stack, `select to_regclass('holdfast.entries') is not null as migrated`)).toEqual([
      { migrated: true },
    ]);
    expect(isStackRunning(directory)).toBe(true);
    for (const service of ['postgres', 'temporal', 'worker'] as const) {
      const before = stack.processIds();
      process.kill(before[service] ?? 0, 'SIGKILL');
      await waitUntil(`${service} runs again`, () => readyTimes(service) === 2);
      const after = stack.processIds();
      expect(after[service]).not.toBe(before[service]);
      expect({ ...after, [service]: 0 }).toEqual({ ...before, [service]: 0 });
      expect(await query(stack, 'select 1 as one')).toEqual([{ one: 1 }]);
      await waitUntil(
        'the file names the new process',
        () => readStack(directory)?.processes[service]?.processId === after[service],
      );
    }
    const processIds = Object.values(stack.processIds());
    expect(processIds).toHaveLength(3);
    await stack.stop();
    expect(events.filter(({ kind }) => kind === 'stopping').map(({ service }) => service)).toEqual([
      'worker',
      'temporal',
      'postgres',
    ]);
    expect(processIds.filter(isAlive)).toEqual([]);
    expect(isStackRunning(directory)).toBe(false);
    expect(readStack(directory)?.processes).toEqual({});
  });

  test('keeps data, workflows and ports from one start to the next, and from other users', async () => {
    const first = await start({ services: ['postgres', 'temporal'] });
    const before = first.connections;
    await query(first, 'create table kept as select 42 as answer');
    await startOpenWorkflow(before.temporalAddress);
    await first.stop();
    await chmod(directory, 0o755);
    const second = await start({ services: ['postgres', 'temporal'] });
    expect(await readableByOthers(directory)).toEqual([]);
    expect(second.connections).toEqual(before);
    expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await workflowStatus(before.temporalAddress)).toBe('RUNNING');
  });

  test('takes another port when its own was taken meanwhile, and remembers that', async () => {
    const first = await start(ONLY_POSTGRES);
    const { port = 0 } = first.current().postgres ?? {};
    await first.stop();
    const stranger = createServer();
    await new Promise<void>((resolve) => stranger.listen(port, LOCAL_HOST, resolve));
    const second = await start(ONLY_POSTGRES);
    expect(second.current().postgres?.port).not.toBe(port);
    expect(readStack(directory)?.postgres).toEqual(second.current().postgres);
    await new Promise((resolve) => stranger.close(resolve));
  });

  test('a start that loses its port to a quicker program takes another', async () => {
    const port = await freePort();
    const stranger = createServer();
    // Taken when the port has been chosen and Postgres has not yet begun to listen.
    const onEvent = (event: ServiceEvent): void => {
      if (event.kind === 'starting' && !stranger.listening) stranger.listen(port, LOCAL_HOST);
      events.push(event);
    };
    await mkdir(directory, { recursive: true });
    await writeStack(directory, {
      version: 1,
      postgres: { port, database: 'holdfast', dataDirectory: join(directory, 'postgres') },
      temporal: null,
      simulator: null,
      server: null,
      processes: {},
    });
    const stack = await start({ ...ONLY_POSTGRES, onEvent });
    expect(stack.current().postgres?.port).not.toBe(port);
    expect(events.map(({ kind }) => kind)).toEqual(['starting', 'starting', 'ready']);
    expect(await query(stack, 'select 1 as one')).toEqual([{ one: 1 }]);
    await new Promise((resolve) => stranger.close(resolve));
  });

  test('a second one for the same folder is refused, and the first goes on; one for another folder uses the servers that its environment names', async () => {
    const first = await start(ONLY_POSTGRES);
    await expect(start(ONLY_POSTGRES)).rejects.toMatchObject({
      code: 'stack_already_running',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(await query(first, 'select 1 as one')).toEqual([{ one: 1 }]);
    const { databaseUrl } = first.connections;
    const other = await start({
      directory: join(project, 'other'),
      services: ['postgres'],
      environment: { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: 'temporal.example:7233' },
    });
    expect(other.processIds()).toEqual({});
    expect(other.connections).toMatchObject({ databaseUrl, temporalAddress: 'temporal.example:7233' });
    expect(await readFile(join(project, 'other', 'stack.json'), 'utf8')).not.toContain(new URL(databaseUrl).password);
  });

  test('a worker that cannot start ends the start with its last words and the place of its log, and nothing is left', async () => {
    const starting = start({
      services: ['postgres', 'temporal', 'worker'],
      workerCommand: [
        '-e',
        `console.error('{"level":"warn"}\\nerror (x): no agents\\nnext: add one'); process.exit(3)`,
      ],
    });
    await expect(starting).rejects.toMatchObject({
      code: 'service_failed',
      message: expect.stringMatching(
        /ended \(exit code 3\) while starting:\n {2}error \(x\): no agents\n {2}next: add one\n.*worker\.log/,
      ),
    });
    expect(await readFile(join(directory, 'logs', 'worker.log'), 'utf8')).toContain('no agents');
    expect(isStackRunning(directory)).toBe(false);
    const started = events.flatMap((event) => (event.kind === 'ready' ? [event.processId] : []));
    expect(started).toHaveLength(2);
    expect(started.filter(isAlive)).toEqual([]);
  });
});

/** A workflow that no worker serves: it stays open. */
async function startOpenWorkflow(address: string): Promise<void> {
  const connection = await Connection.connect({ address });
  await new Client({ connection }).workflow.start('open', { workflowId: 'open', taskQueue: 'nobody' });
  await connection.close();
}

/** As Temporal's client names it. */
async function workflowStatus(address: string): Promise<string> {
  const connection = await Connection.connect({ address });
  const { status } = await new Client({ connection }).workflow.getHandle('open').describe();
  await connection.close();
  return status.name;
}
