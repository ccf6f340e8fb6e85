import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serverEnvironment, startGuardedProcess } from '../../src/local/guarded-process.ts';
import type { GuardedProcess } from '../../src/local/guarded-process.ts';
import { describeExit, isAlive, signalProcess } from '../../src/local/process-signals.ts';
import { processesOfRun } from '../support/leaked-processes.ts';
import { temporaryDirectory } from '../support/servers.ts';
import { waitUntil } from '../support/wait-until.ts';

const STARTER = fileURLToPath(new URL('../support/guarded-starter.mjs', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await temporaryDirectory('guard');
});
afterEach(async () => {
  for (const { processId } of await processesOfRun(directory)) signalProcess(processId, 'SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

/** Runs a shell script, guarded, with the mark that finds all its processes. */
async function start(script: string, stopTimeoutMilliseconds = 5000): Promise<GuardedProcess> {
  return startGuardedProcess({
    name: 'script',
    command: '/bin/sh',
    arguments: ['-c', script],
    environment: { PATH: '/usr/bin:/bin', TMPDIR: directory },
    workingDirectory: directory,
    logFile: join(directory, 'log'),
    stopTimeoutMilliseconds,
  });
}

async function everythingGone(): Promise<boolean> {
  return (await processesOfRun(directory)).length === 0;
}

/** A starter of its own, so that it can be killed; returns when its program runs. */
async function startStarter(): Promise<{ starter: number; program: number }> {
  const child = spawn(process.execPath, [STARTER, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await waitUntil('the starter has started its program', () => output.includes('\n'));
  return { starter: child.pid ?? 0, program: Number(output) };
}

async function guardsOf(program: number): Promise<number[]> {
  const all = await processesOfRun(directory);
  return all
    .filter(({ processId, command }) => processId !== program && command.includes('holdfast-guard'))
    .map(({ processId }) => processId);
}

describe('a guarded process', () => {
  test('gets only the environment that it is given', async () => {
    process.env['ANTHROPIC_API_KEY'] = 'planted-secret';
    try {
      const guarded = await start('env; exit 0');
      await guarded.exited;
      expect(await readFile(join(directory, 'log'), 'utf8')).not.toContain('planted-secret');
    } finally {
      delete process.env['ANTHROPIC_API_KEY'];
    }
  });

  test('is killed when it does not stop in time', async () => {
    const guarded = await start('trap "" TERM; echo ready; while :; do sleep 0.05; done', 300);
    await waitUntil('it ignores the signal', async () =>
      (await readFile(join(directory, 'log'), 'utf8')).includes('ready'),
    );
    await guarded.stop();
    expect(isAlive(guarded.processId)).toBe(false);
    expect(describeExit((await guarded.exited).status)).toBe('was killed (SIGKILL)');
  });

  test('children that the program left behind go with it', async () => {
    const guarded = await start('sleep 60 & exit 0');
    await guarded.exited;
    await waitUntil('its child is gone', everythingGone);
  });

  test('ends when its starter is killed with SIGKILL', async () => {
    const { starter, program } = await startStarter();
    expect(isAlive(program)).toBe(true);
    process.kill(starter, 'SIGKILL');
    await waitUntil('the program and its guard are gone', everythingGone);
  });

  test('ends when first its guard and then its starter is killed', async () => {
    const { starter, program } = await startStarter();
    const [guard] = await guardsOf(program);
    process.kill(guard ?? 0, 'SIGKILL');
    process.kill(starter, 'SIGKILL');
    await waitUntil('the program is gone', everythingGone);
  });

  test('is taken down when its guard is killed, since nobody would notice its end', async () => {
    const guarded = await start('while :; do sleep 0.05; done');
    for (const guard of await guardsOf(guarded.processId)) signalProcess(guard, 'SIGKILL');
    expect(await guarded.exited).toEqual({ status: null });
    expect(isAlive(guarded.processId)).toBe(false);
  });

  test('a server gets no HOME, in which Temporal would make a folder that another user then cannot read', () => {
    expect(Object.keys(serverEnvironment()).toSorted()).toEqual(['LC_ALL', 'PATH', 'TMPDIR', 'TZ']);
  });
});
