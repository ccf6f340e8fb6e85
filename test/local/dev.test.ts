import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isAlive, signalProcess } from '../../src/local/process-signals.ts';
import { readStack, resolveConnections } from '../../src/local/stack-file.ts';
import {
  DevProcess,
  makeProject,
  PROGRAM,
  projectEnvironment,
  removeProject,
  WITHOUT_TURNS,
} from '../support/dev-process.ts';
import { processesOfRun } from '../support/leaked-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

/** "No more than a few seconds": a server's own orderly stop is part of it. */
const FEW_SECONDS = 8000;

let project: string;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(async () => removeProject(project));

function startDev(...flags: string[]): DevProcess {
  return new DevProcess(project, [...WITHOUT_TURNS, ...flags]);
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
    const dev = startDev();
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
    const dev = startDev();
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
    const dev = startDev();
    await dev.running();
    dev.pressControlC();
    await waitUntil('it is stopping', () => dev.find('stopping') !== undefined);
    dev.pressControlC();
    await dev.exitCode();
    await waitUntil('nothing is left', nothingLeft, FEW_SECONDS);
  });

  test('after kill -9 of dev no service outlives it by more than a few seconds; the next start has everything', async () => {
    const first = startDev();
    await first.running();
    await leaveWork();
    first.child.kill('SIGKILL');
    await waitUntil('nothing is left', nothingLeft, FEW_SECONDS);
    const second = startDev();
    await second.running();
    await expectWorkKept();
  });

  test('after kill -9 of everything at once the next start is clean and has everything', async () => {
    const first = startDev();
    await first.running();
    await leaveWork();
    for (const { processId } of await processesOfRun(project)) signalProcess(processId, 'SIGKILL');
    signalProcess(first.child.pid ?? 0, 'SIGKILL');
    await waitUntil('nothing is left', nothingLeft, FEW_SECONDS);
    const second = startDev();
    await second.running();
    await expectWorkKept();
  });

  test('services that outlived dev and all guards are taken down by the next start', async () => {
    const first = startDev();
    const orphans = Object.values(await first.running());
    await leaveWork();
    // Stopped first, so that no guard can act on the end of another.
    const guards = (await processesOfRun(project)).filter(({ command }) => command.includes('holdfast-guard'));
    for (const { processId } of guards) signalProcess(processId, 'SIGSTOP');
    for (const { processId } of guards) signalProcess(processId, 'SIGKILL');
    first.child.kill('SIGKILL');
    await waitUntil('only the services are left', () => !guards.some(({ processId }) => isAlive(processId)));
    expect(orphans.filter(isAlive)).toEqual(orphans);
    const second = startDev();
    await second.running();
    expect(orphans.filter(isAlive)).toEqual([]);
    await expectWorkKept();
  });

  test('started twice, the second says so and exits; the first goes on', async () => {
    const first = startDev();
    const processes = await first.running();
    const second = startDev();
    expect(await second.exitCode()).toBe(3);
    expect(second.lines.at(-1)?.error).toMatchObject({
      code: 'stack_already_running',
      message: expect.stringContaining(`process ${first.child.pid}`),
    });
    expect(Object.values(processes).filter(isAlive)).toHaveLength(3);
  });

  test('prints addresses and one command to try, for a person', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'dev', '--no-simulator', '--no-worker'], {
      cwd: project,
      env: projectEnvironment(project),
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
    const dev = startDev(...flags);
    expect(await dev.exitCode()).toBe(2);
    expect(dev.lines.at(-1)?.error?.message).toContain('1 to 65535');
  });
});
