import { spawn } from 'node:child_process';
import { readFile, readlink, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { AS_APPLICATION } from '../../src/local/postgres/postgres-login.ts';
import { isAlive, signalProcess } from '../../src/local/process-signals.ts';
import { readStack, resolveConnections } from '../../src/local/stack-file.ts';
import {
  DevProcess,
  endProcesses,
  makeProject,
  PROGRAM,
  projectEnvironment,
  removeProject,
  WITHOUT_TURNS,
} from '../support/dev-process.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { processesOfRun } from '../support/leaked-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

// One folder for all: each start finds what the one before left there. Where the state is kept says nothing of where the project is.
let project: string;
let state: string;
beforeAll(async () => {
  project = await makeProject();
  state = join(project, 'elsewhere', 'state');
});
afterEach(async () => endProcesses(project));
afterAll(async () => removeProject(project));

function startDev(...flags: string[]): DevProcess {
  return new DevProcess(project, [...WITHOUT_TURNS, '--directory', state, ...flags]);
}

async function left(): Promise<string[]> {
  return (await processesOfRun(project)).map(({ processId, command }) => `${processId} ${command.slice(-120)}`);
}

async function nothingLeft(): Promise<boolean> {
  return (await left()).length === 0;
}

function connections(): ReturnType<typeof resolveConnections> {
  return resolveConnections({}, readStack(state));
}

/** One row and one open workflow: what a stack has to keep. */
async function leaveWork(): Promise<void> {
  const { databaseUrl, temporalAddress } = connections();
  const sql = postgres(databaseUrl.replace(AS_APPLICATION, ''), { max: 1 });
  await sql`create table kept as select 42 as answer`;
  await sql.end();
  const connection = await Connection.connect({ address: temporalAddress });
  await new Client({ connection }).workflow.start('open', { workflowId: 'open', taskQueue: 'nobody' });
  await connection.close();
}

async function expectWorkKept(when: string): Promise<void> {
  const { databaseUrl, temporalAddress } = connections();
  const sql = postgres(databaseUrl.replace(AS_APPLICATION, ''), { max: 1 });
  expect([...(await sql`select answer from kept`)], when).toEqual([{ answer: 42 }]);
  await sql.end();
  const connection = await Connection.connect({ address: temporalAddress });
  const { status } = await new Client({ connection }).workflow.getHandle('open').describe();
  await connection.close();
  expect(status.name, when).toBe('RUNNING');
}

type Processes = Record<string, number>;

/** Ways to die of `holdfast dev`, each with what is to hold before the next start. */
const DEATHS: readonly {
  readonly name: string;
  readonly die: (dev: DevProcess, processes: Processes) => Promise<void>;
}[] = [
  {
    name: 'kill -9 of dev: no service outlives it',
    async die(dev) {
      dev.child.kill('SIGKILL');
      await waitUntil('nothing is left', nothingLeft);
    },
  },
  {
    name: 'a second Ctrl-C: it leaves at once, and the services stop by themselves',
    async die(dev) {
      dev.pressControlC();
      await waitUntil('it is stopping', () => dev.find('stopping') !== undefined);
      dev.pressControlC();
      await dev.exitCode();
      await waitUntil('nothing is left', nothingLeft);
    },
  },
  {
    name: 'kill -9 of everything at once',
    async die(dev) {
      for (const { processId } of await processesOfRun(project)) signalProcess(processId, 'SIGKILL');
      signalProcess(dev.child.pid ?? 0, 'SIGKILL');
      await waitUntil('nothing is left', nothingLeft);
    },
  },
  {
    name: 'kill -9 of dev and all guards: the services outlive it, and the next start takes them down',
    async die(dev, processes) {
      const services = Object.values(processes);
      // Stopped first, so that neither dev nor a guard can act on the end of another.
      dev.child.kill('SIGSTOP');
      const guards = (await processesOfRun(project)).filter(({ command }) => command.includes('holdfast-guard'));
      for (const { processId } of guards) signalProcess(processId, 'SIGSTOP');
      for (const { processId } of guards) signalProcess(processId, 'SIGKILL');
      dev.child.kill('SIGKILL');
      await waitUntil('only the services are left', () => !guards.some(({ processId }) => isAlive(processId)));
      expect(services.filter(isAlive)).toEqual(services);
    },
  },
];

describe('holdfast dev', () => {
  test('however it dies, the next start is clean and has everything; a second one beside it says that one runs, and exits; Ctrl-C stops it in order and leaves no process', async () => {
    let outlived: number[] = [];
    for (const [index, { name, die }] of DEATHS.entries()) {
      const dev = startDev();
      const processes = await dev.running();
      if (index === 0) await leaveWork();
      else await expectWorkKept(`before ${name}`);
      await die(dev, processes);
      outlived = Object.values(processes).filter(isAlive);
    }
    expect(outlived).toHaveLength(3);
    const dev = startDev();
    const processes = await dev.running();
    expect(outlived.filter(isAlive)).toEqual([]);
    await expectWorkKept('after the last death');
    if (process.platform === 'linux')
      expect(await readlink(`/proc/${processes['worker']}/cwd`)).toBe(await realpath(project));

    const second = startDev();
    expect(await second.exitCode()).toBe(3);
    expect(second.lines.at(-1)?.error).toMatchObject({
      code: 'stack_already_running',
      message: expect.stringContaining(`process ${dev.child.pid}`),
    });
    expect(Object.values(processes).filter(isAlive)).toHaveLength(3);

    dev.pressControlC();
    expect(await dev.exitCode()).toBe(0);
    expect(await left()).toEqual([]);
    const stopping = dev.lines.filter(({ event }) => event === 'stopping').map((found) => found['service']);
    expect(stopping).toEqual(['worker', 'temporal', 'postgres']);
    expect(dev.find('ended')).toBe(undefined);
    expect(dev.lines.at(-1)?.event).toBe('stopped');
    expect(await readFile(join(state, 'logs', 'postgres.log'), 'utf8')).toContain('database system is shut down');
  });

  test('Ctrl-C while it starts stops what has started', async () => {
    const dev = startDev();
    await waitUntil('Postgres is ready', () =>
      dev.lines.some((found) => found.event === 'ready' && found['service'] === 'postgres'),
    );
    dev.pressControlC();
    expect(await dev.exitCode()).toBe(0);
    await waitUntil('nothing is left', nothingLeft);
  });

  test('prints addresses and one command to try, for a person, and uses a changed holdfast.yaml without mistakes', async () => {
    const file = join(project, 'holdfast.yaml');
    await writeFile(file, '');
    const child = spawn(process.execPath, [PROGRAM, 'dev', '--no-simulator', '--no-worker'], {
      cwd: project,
      env: projectEnvironment(project),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await waitUntil('it runs', () => output.includes('Try, in another terminal'));
    const { temporal, postgres: database } = readStack(join(project, '.holdfast')) ?? {};
    for (const service of ['Postgres', 'Temporal'])
      expect(output).toMatch(new RegExp(`^${service} is ready \\([\\d.]+ s\\)$`, 'mu'));
    expect(output).toContain(temporal?.uiUrl);
    expect(output).toContain(`127.0.0.1:${database?.port}`);
    const { databaseUrl } = resolveConnections({}, readStack(join(project, '.holdfast')));
    expect(output).not.toContain(new URL(databaseUrl).password);
    await writeFile(file, 'agent: {}\n');
    await waitUntil('the mistake is told', () =>
      /holdfast\.yaml was changed, and is not used yet\..*agent/su.test(output),
    );
    expect(output).not.toContain('Server is running again');
    await writeFile(file, '# changed\n');
    await waitUntil('the server reads it', () => output.includes('Server is running again'));
    child.kill('SIGTERM');
    await waitUntil('it has ended', () => child.exitCode !== null);
    expect(child.exitCode).toBe(0);
    expect(await readFile(join(project, '.holdfast', 'stack.json'), 'utf8')).toContain('"processes": {}');
  });

  test.each([
    ['--postgres-port', '99999'],
    ['--temporal-port', 'many'],
  ])('refuses %s %s', async (...flags) => {
    const { code, stderr } = await runInProcess(['dev', ...flags], { directory: project });
    expect([code, stderr]).toEqual([2, expect.stringContaining('1 to 65535')]);
  });
});
