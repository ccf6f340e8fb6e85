import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isAlive, signalProcess } from '../../src/local/process-signals.ts';
import { readStack, resolveConnections } from '../../src/local/stack-file.ts';
import { processesOfRun } from '../support/leaked-processes.ts';
import { temporaryDirectory } from '../support/servers.ts';
import { waitUntil } from '../support/wait-until.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/holdfast.js', import.meta.url));
const WORKER = `--import ${import.meta.resolve('tsx')} ${fileURLToPath(new URL('../support/polling-worker.ts', import.meta.url))}`;
/** "No more than a few seconds": a server's own orderly stop is part of it. */
const FEW_SECONDS = 8000;

const line = z.looseObject({
  event: z.string().optional(),
  processes: z.record(z.string(), z.number()).optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
});
type Line = z.infer<typeof line>;

let project: string;
let started: Dev[];
beforeEach(async () => {
  project = await temporaryDirectory('dev');
  // tsx keeps what it compiled in TMPDIR; shared, or each start of each test would compile everything again.
  const compiled = `tsx-${process.getuid?.()}`;
  await mkdir(join(tmpdir(), compiled), { recursive: true });
  await symlink(join(tmpdir(), compiled), join(project, compiled));
  started = [];
});
afterEach(async () => {
  for (const { processId } of await processesOfRun(project)) signalProcess(processId, 'SIGKILL');
  await rm(project, { recursive: true, force: true });
});

/** `holdfast dev --json` in a project of the test's own; TMPDIR marks every process that descends from it. */
class Dev {
  readonly child: ChildProcess;
  readonly lines: Line[] = [];
  private rest = '';

  constructor(...flags: string[]) {
    this.child = spawn(
      process.execPath,
      [PROGRAM, 'dev', '--json', '--no-simulator', '--worker-command', WORKER, ...flags],
      {
        cwd: project,
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: project },
        stdio: ['ignore', 'pipe', 'inherit'],
        // A process group of its own, as a terminal makes one for each command.
        detached: true,
      },
    );
    this.child.stdout?.on('data', (chunk: Buffer) => {
      const texts = (this.rest + chunk.toString()).split('\n');
      this.rest = texts.pop() ?? '';
      for (const text of texts) this.lines.push(line.parse(JSON.parse(text)));
    });
    started.push(this);
  }

  /** Ctrl-C: a terminal sends the signal to the whole foreground group, not only to its leader. */
  pressControlC(): void {
    process.kill(-(this.child.pid ?? 0), 'SIGINT');
  }

  find(event: string): Line | undefined {
    return this.lines.find((candidate) => candidate.event === event);
  }

  async running(): Promise<Record<string, number>> {
    await waitUntil('the stack runs', () => this.find('running') !== undefined || this.child.exitCode !== null, 90_000);
    const found = this.find('running');
    if (found?.processes === undefined) throw new Error(`dev did not start: ${JSON.stringify(this.lines)}`);
    return found.processes;
  }

  async exitCode(): Promise<number | null> {
    await waitUntil('dev has ended', () => this.child.exitCode !== null || this.child.signalCode !== null, 30_000);
    return this.child.exitCode;
  }
}

async function left(): Promise<string[]> {
  return (await processesOfRun(project)).map(({ processId, command }) => `${processId} ${command.slice(-120)}`);
}

async function nothingLeft(): Promise<boolean> {
  return (await left()).length === 0;
}

function connections(): ReturnType<typeof resolveConnections> {
  return resolveConnections({}, readStack(join(project, '.holdfast')));
}

/** One row and one open workflow: what a stack has to keep. */
async function leaveWork(): Promise<void> {
  const { databaseUrl, temporalAddress } = connections();
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`create table kept as select 42 as answer`;
  await sql.end();
  const connection = await Connection.connect({ address: temporalAddress });
  await new Client({ connection }).workflow.start('open', { workflowId: 'open', taskQueue: 'nobody' });
  await connection.close();
}

async function expectWorkKept(): Promise<void> {
  const { databaseUrl, temporalAddress } = connections();
  const sql = postgres(databaseUrl, { max: 1 });
  expect([...(await sql`select answer from kept`)]).toEqual([{ answer: 42 }]);
  await sql.end();
  const connection = await Connection.connect({ address: temporalAddress });
  const { status } = await new Client({ connection }).workflow.getHandle('open').describe();
  await connection.close();
  expect(status.name).toBe('RUNNING');
}

// Each starts real servers, several times on a busy machine.
describe('holdfast dev', { timeout: 120_000 }, () => {
  test('Ctrl-C stops everything in order and leaves no process', async () => {
    const dev = new Dev();
    await dev.running();
    dev.pressControlC();
    expect(await dev.exitCode()).toBe(0);
    expect(await left()).toEqual([]);
    const stopping = dev.lines.filter(({ event }) => event === 'stopping').map((found) => found['service']);
    expect(stopping).toEqual(['worker', 'temporal', 'postgres']);
    expect(dev.find('ended')).toBe(undefined);
    expect(dev.lines.at(-1)?.event).toBe('stopped');
    expect(await readFile(join(project, '.holdfast', 'logs', 'postgres.log'), 'utf8')).toContain(
      'database system is shut down',
    );
  });

  test('Ctrl-C while it starts stops what has started', async () => {
    const dev = new Dev();
    await waitUntil(
      'Postgres is ready',
      () => dev.lines.some((found) => found.event === 'ready' && found['service'] === 'postgres'),
      30_000,
    );
    dev.pressControlC();
    expect(await dev.exitCode()).toBe(0);
    await waitUntil('nothing is left', nothingLeft, FEW_SECONDS);
  });

  test('a second Ctrl-C leaves at once, and the services stop by themselves', async () => {
    const dev = new Dev();
    await dev.running();
    dev.pressControlC();
    await waitUntil('it is stopping', () => dev.find('stopping') !== undefined);
    dev.pressControlC();
    await dev.exitCode();
    await waitUntil('nothing is left', nothingLeft, FEW_SECONDS);
  });

  test('after kill -9 of dev no service outlives it by more than a few seconds; the next start has everything', async () => {
    const first = new Dev();
    await first.running();
    await leaveWork();
    first.child.kill('SIGKILL');
    await waitUntil('nothing is left', nothingLeft, FEW_SECONDS);
    const second = new Dev();
    await second.running();
    await expectWorkKept();
  });

  test('after kill -9 of everything at once the next start is clean and has everything', async () => {
    const first = new Dev();
    await first.running();
    await leaveWork();
    for (const { processId } of await processesOfRun(project)) signalProcess(processId, 'SIGKILL');
    signalProcess(first.child.pid ?? 0, 'SIGKILL');
    await waitUntil('nothing is left', nothingLeft, FEW_SECONDS);
    const second = new Dev();
    await second.running();
    await expectWorkKept();
  });

  test('services that outlived dev and all guards are taken down by the next start', async () => {
    const first = new Dev();
    const orphans = Object.values(await first.running());
    await leaveWork();
    // Stopped first, so that no guard can act on the end of another.
    const guards = (await processesOfRun(project)).filter(({ command }) => command.includes('holdfast-guard'));
    for (const { processId } of guards) signalProcess(processId, 'SIGSTOP');
    for (const { processId } of guards) signalProcess(processId, 'SIGKILL');
    first.child.kill('SIGKILL');
    await waitUntil('only the services are left', () => !guards.some(({ processId }) => isAlive(processId)));
    expect(orphans.filter(isAlive)).toEqual(orphans);
    const second = new Dev();
    await second.running();
    expect(orphans.filter(isAlive)).toEqual([]);
    await expectWorkKept();
  });

  test('started twice, the second says so and exits; the first goes on', async () => {
    const first = new Dev();
    const processes = await first.running();
    const second = new Dev();
    expect(await second.exitCode()).toBe(3);
    expect(second.lines.at(-1)?.error).toMatchObject({
      code: 'HOLDFAST_ALREADY_RUNNING',
      message: expect.stringContaining(`process ${first.child.pid}`),
    });
    expect(Object.values(processes).filter(isAlive)).toHaveLength(3);
  });

  test('prints addresses and one command to try, for a person', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'dev', '--no-simulator', '--no-worker'], {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: project },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await waitUntil('it runs', () => output.includes('Try, in another terminal'), 90_000);
    const { temporal, postgres: database } = readStack(join(project, '.holdfast')) ?? {};
    expect(output).toContain(temporal?.uiUrl);
    expect(output).toContain(`127.0.0.1:${database?.port}`);
    expect(output).not.toContain(new URL(connections().databaseUrl).password);
    child.kill('SIGTERM');
    await waitUntil('it has ended', () => child.exitCode !== null, 20_000);
    expect(child.exitCode).toBe(0);
    expect(await readFile(join(project, '.holdfast', 'stack.json'), 'utf8')).toContain('"processes": {}');
  });

  test.each([
    ['--postgres-port', '99999'],
    ['--temporal-port', 'many'],
  ])('refuses %s %s', async (...flags) => {
    const dev = new Dev(...flags);
    expect(await dev.exitCode()).toBe(2);
    expect(dev.lines.at(-1)?.error?.message).toContain('1 to 65535');
  });
});
