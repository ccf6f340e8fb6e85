import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findMarkedProcesses, killMarkedProcesses } from '../../src/tools/process/end-processes.ts';
import { createRunCommand } from '../../src/tools/builtin/run-command.ts';
import type { ToolContext } from '../../src/tools/tool.ts';
import { waitUntil } from '../support/wait-until.ts';
import { call, originalBytes, temporaryDirectory } from './support/tool-context.ts';

const runCommand = createRunCommand({ environment: process.env, secrets: [] });

let calls = 0;

/** Context of one call, whose processes must all be gone when the test ends. */
async function commandContext(changes: Partial<ToolContext> = {}) {
  calls += 1;
  const idempotencyKey = `run-command-test-${process.pid}-${calls}`;
  onTestFinished(async () => {
    const left = await killMarkedProcesses(idempotencyKey);
    expect(left, 'processes left behind').toEqual([]);
  });
  return { workspace: await temporaryDirectory(), idempotencyKey, ...changes };
}

test('returns both streams in order, the exit code, and runs in the workspace', async () => {
  const context = await commandContext();
  const command = 'echo one; echo two >&2; pwd; echo four >&2';
  const outcome = await call(runCommand, { input: { command }, context });
  expect(outcome.isError).toBe(false);
  expect(outcome.text).toMatch(new RegExp(`^one\ntwo\n${context.workspace}\nfour\n\n\\[exit code 0; \\d+\\.\\d s\\]$`));
});

test('an exit code other than 0 is an error result with the output', async () => {
  const outcome = await call(runCommand, {
    input: { command: 'echo problem; exit 3' },
    context: await commandContext(),
  });
  expect(outcome).toMatchObject({ isError: true, ending: 'tool_failed' });
  expect(outcome.text).toMatch(/^problem\n\n\[exit code 3; /);
});

test('how long a command took is no part of what its result is compared by; how it ended is', async () => {
  const comparedBy = async (command: string) =>
    (await call(runCommand, { input: { command }, context: await commandContext() })).comparedBy;
  const first = await comparedBy('echo same');
  expect(first).toBeTypeOf('string');
  expect(await comparedBy('sleep 0.2; echo same')).toBe(first);
  expect(await comparedBy('echo other')).not.toBe(first);
  expect(await comparedBy('echo same; exit 3')).not.toBe(first);
});

test('a command that reads input gets none, and no pager waits', async () => {
  const outcome = await call(runCommand, {
    input: { command: 'cat; read x; echo "$PAGER"' },
    context: await commandContext(),
  });
  expect(outcome.text).toMatch(/^cat\n/);
});

test("the worker's environment does not reach the command, what it needs, what is passed on and the marker do", async () => {
  const context = await commandContext();
  const tool = createRunCommand({
    environment: {
      PATH: process.env['PATH'],
      ANTHROPIC_API_KEY: 'sk-ant-planted',
      OPENAI_API_KEY: 'sk-planted',
      DATABASE_URL: 'postgres://user:planted@host/db',
      TEMPORAL_API_KEY: 'planted',
      MY_OWN_NAME: 'planted-own-key',
      URL_WITH_KEY: 'https://host/?key=planted-own-key',
      AWS_SECRET_ACCESS_KEY: 'planted',
      SSH_AUTH_SOCK: 'planted',
      HARMLESS: 'stays',
    },
    passedOn: ['HARMLESS', 'URL_WITH_KEY'],
    secrets: ['planted-own-key'],
  });
  const { text } = await call(tool, { input: { command: 'env' }, context });
  expect(text).not.toContain('planted');
  // Not their names either: an empty variable tells that there is a key.
  expect(text).not.toMatch(
    /ANTHROPIC_API_KEY|OPENAI_API_KEY|DATABASE_URL|TEMPORAL_API_KEY|AWS_|SSH_|OWN_NAME|WITH_KEY/,
  );
  expect(text).toContain('HARMLESS=stays\n');
  expect(text).toContain(`HOLDFAST_TOOL_CALL=${context.idempotencyKey}\n`);
});

test('a key that a command prints nevertheless is masked in what is shown and stored', async () => {
  const secret = 'sk-planted-0123456789';
  const command = `echo ${secret}; for i in $(seq 3000); do echo filler line $i; done; echo ${secret}`;
  const outcome = await call(runCommand, { input: { command }, context: await commandContext(), secrets: [secret] });
  expect(outcome.text).toContain('[masked key]');
  expect(outcome.text).not.toContain(secret);
  expect((await originalBytes(outcome)).includes(secret)).toBe(false);
});

test('bytes that are no UTF-8 are shown as replacement characters and stored as they are', async () => {
  const context = await commandContext();
  const outcome = await call(runCommand, { input: { command: String.raw`printf 'a\377\000b'` }, context });
  expect(outcome.text).toMatch(/^a\ufffd\0b\n\[exit code 0/);
  expect([...(await originalBytes(outcome)).subarray(0, 4)]).toEqual([0x61, 0xff, 0x00, 0x62]);
});

test('200 MB of output stay flat in memory, are shown clipped and stored up to 64 MB', async () => {
  const context = await commandContext();
  const before = process.memoryUsage().rss;
  let highest = 0;
  const watching = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 20);
  onTestFinished(() => clearInterval(watching));
  const command = 'echo START; yes 0123456789abcdef | head -c 209715200; echo END';
  const outcome = await call(runCommand, { input: { command }, context });
  expect(highest - before).toBeLessThan(100 * 1_024 * 1_024);
  expect(outcome.text.length).toBeLessThanOrEqual(12_000);
  expect(outcome.text.startsWith('START\n')).toBe(true);
  expect(outcome.text).toMatch(/END\n\n\[exit code 0; .*\]$/);
  expect(outcome.text).toMatch(/recall_open \{"entry_id": "[0-9a-f-]{36}", "offset": \d+\}/);
  expect(outcome.original?.missingBytes).toBeGreaterThan(130 * 1_024 * 1_024);
});

test('the time limit of the call ends the command and keeps what it wrote', async () => {
  const command = 'echo begun; sleep 60';
  const outcome = await call(runCommand, { input: { command, timeout_seconds: 1 }, context: await commandContext() });
  expect(outcome).toMatchObject({ isError: true, ending: 'tool_failed' });
  expect(outcome.text).toMatch(/^begun\n\n\[ended after the time limit of 1 s; /);
});

const STUBBORN: readonly (readonly [string, string])[] = [
  ['a child that ignores SIGTERM', `trap '' TERM; sleep 300 & sleep 300`],
  ['children in the background', 'for i in 1 2 3; do (sleep 300 &) ; done; sleep 300'],
  ['a grandchild in a session of its own', `setsid sh -c "trap '' TERM HUP; sleep 300" & sleep 300`],
  [
    'a daemon that left its parent and its output',
    'setsid sh -c "sleep 300 & exit" </dev/null >/dev/null 2>&1; sleep 300',
  ],
  ['a program that stops itself', 'sh -c "kill -STOP \\$\\$"; sleep 300'],
];

test.each(STUBBORN)('a stop leaves nothing of %s', async (_, command) => {
  const stop = new AbortController();
  const context = await commandContext({ signal: stop.signal });
  const ready = join(context.workspace, 'ready');
  const running = call(runCommand, { input: { command: `echo begun; touch ready; ${command}` }, context });
  await waitUntil('the command has begun', () => existsSync(ready));
  stop.abort();
  const outcome = await running;
  expect(outcome.ending).toBe('aborted');
  expect(outcome.text).toMatch(/^begun\n\nThe call was stopped\./);
  // A busy system lets go of what was killed a moment later.
  await waitUntil('nothing is left', () => findMarkedProcesses(context.idempotencyKey).length === 0);
});

test('a command that is stopped may clean up after itself, and is then not waited for', async () => {
  const stop = new AbortController();
  const context = await commandContext({ signal: stop.signal });
  const command = `trap 'echo cleaned up; exit 0' TERM; touch ready; while true; do sleep 0.05; done`;
  const running = call(runCommand, { input: { command }, context });
  await waitUntil('the command has begun', () => existsSync(join(context.workspace, 'ready')));
  stop.abort();
  expect((await running).text).toMatch(/cleaned up\n\nThe call was stopped\./);
});

test('what a command leaves in the background is ended when it returns, and does not hold it up', async () => {
  const context = await commandContext();
  const command = '(sleep 300 &); nohup sleep 300 & setsid sleep 300 & echo done';
  const outcome = await call(runCommand, { input: { command }, context });
  expect(outcome.text).toMatch(/^done\n/);
  expect(findMarkedProcesses(context.idempotencyKey)).toEqual([]);
});

test('what a command leaves while it replaces its program again and again is ended too', async () => {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const context = await commandContext();
    const program = join(context.workspace, 'replaces-itself');
    await writeFile(program, '#!/bin/sh\nexec "$0"\n', { mode: 0o755 });
    const outcome = await call(runCommand, {
      input: { command: `setsid ${program} & sleep 0.02; echo done` },
      context,
    });
    expect(outcome.text).toMatch(/^done\n/);
    expect(findMarkedProcesses(context.idempotencyKey)).toEqual([]);
  }
});

test('a zombie whose call another attempt has begins no command', async () => {
  const requireClaim = (): Promise<void> => Promise.reject(new Error('taken over'));
  const context = await commandContext({ requireClaim });
  const outcome = await call(runCommand, { input: { command: 'touch begun' }, context });
  expect(outcome.isError).toBe(true);
  expect(existsSync(join(context.workspace, 'begun'))).toBe(false);
});

test('when the worker is killed, its command is gone too, with what left its process group, and nothing else', async () => {
  const { spawn } = await import('node:child_process');
  const context = await commandContext();
  const script = join(context.workspace, 'worker.ts');
  const source = new URL('../../src/tools/process/', import.meta.url).pathname;
  await writeFile(
    script,
    `import { runShellCommand } from '${source}shell-command.ts';
     void runShellCommand({
       command: "trap '' TERM HUP; (sleep 300 &); setsid sleep 300 & touch ready; while true; do sleep 1; done",
       directory: ${JSON.stringify(context.workspace)},
       environment: { PATH: process.env.PATH ?? '', HOLDFAST_TOOL_CALL: ${JSON.stringify(context.idempotencyKey)} },
       idempotencyKey: ${JSON.stringify(context.idempotencyKey)},
       timeoutMilliseconds: 60_000, outputLimitBytes: 1_000_000,
       signal: new AbortController().signal, onOutput: () => Promise.resolve(),
     });`,
  );
  const worker = spawn(process.execPath, ['--import', 'tsx', script], {
    cwd: new URL('../..', import.meta.url).pathname,
  });
  onTestFinished(() => {
    worker.kill('SIGKILL');
  });
  const keyOfAnother = `${context.idempotencyKey}0`;
  const another = spawn('sleep', ['300'], { env: { PATH: process.env['PATH'], HOLDFAST_TOOL_CALL: keyOfAnother } });
  onTestFinished(() => void another.kill('SIGKILL'));
  const left = (key = context.idempotencyKey): number => findMarkedProcesses(key).length;
  await waitUntil('the command has begun', () => existsSync(join(context.workspace, 'ready')));
  expect(left()).toBeGreaterThan(3);
  worker.kill('SIGKILL');
  await waitUntil('the command is gone', () => left() === 0);
  expect(left(keyOfAnother)).toBe(1);
});

test('processes of a call are found by its marker, not those of another call', async () => {
  const [one, other] = [await commandContext(), await commandContext()];
  const stop = new AbortController();
  const running = [one, other].map((context) =>
    call(runCommand, { input: { command: 'touch ready; sleep 300' }, context: { ...context, signal: stop.signal } }),
  );
  await waitUntil('both have begun', () => [one, other].every(({ workspace }) => existsSync(join(workspace, 'ready'))));
  const found = findMarkedProcesses(one.idempotencyKey);
  expect(found.length).toBeGreaterThan(0);
  for (const processId of found) {
    let environment = '';
    // Empty while a process replaces its program.
    await waitUntil('its environment is shown', async () => {
      environment = await readFile(`/proc/${processId}/environ`, 'utf8');
      return environment !== '';
    });
    expect(environment).toContain(one.idempotencyKey);
    expect(environment).not.toContain(other.idempotencyKey);
  }
  stop.abort();
  await Promise.all(running);
});
