import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runShellCommand, type ShellCommand } from '../../src/tools/process/shell-command.ts';
import { temporaryDirectory } from './support/tool-context.ts';

async function run(command: string, changes: Partial<ShellCommand> = {}) {
  const idempotencyKey = `shell-command-test-${process.pid}-${Math.random()}`;
  return runShellCommand({
    command,
    directory: await temporaryDirectory(),
    environment: { PATH: process.env['PATH'] ?? '', HOLDFAST_TOOL_CALL: idempotencyKey },
    idempotencyKey,
    timeoutMilliseconds: 30_000,
    outputLimitBytes: 1_000_000_000,
    signal: new AbortController().signal,
    onOutput: () => Promise.resolve(),
    ...changes,
  });
}

test('a command waits for whoever takes its output: one piece at a time', async () => {
  let open = 0;
  let most = 0;
  let bytes = 0;
  await run('head -c 5000000 /dev/zero', {
    onOutput: async (piece) => {
      open += 1;
      most = Math.max(most, open);
      bytes += piece.length;
      await delay(1);
      open -= 1;
    },
  });
  expect({ most, bytes }).toEqual({ most: 1, bytes: 5_000_000 });
});

test('a command whose output cannot be taken is ended, and the reason is thrown', async () => {
  const failing = run('yes', { onOutput: () => Promise.reject(new Error('disk full')) });
  await expect(failing).rejects.toThrow('disk full');
});

test('output over the limit ends a command', async () => {
  expect(await run('yes', { outputLimitBytes: 10_000_000 })).toMatchObject({ cause: 'too_much_output' });
});

test('a command ended by a signal says which', async () => {
  expect(await run('kill -KILL $$')).toEqual({ cause: 'exited', exitCode: null, endedBy: 'SIGKILL' });
});

test('a directory that is gone is an error, not a crash', async () => {
  await expect(run('true', { directory: '/nonexistent' })).rejects.toMatchObject({ code: 'unsupported' });
});

test('a signal that was aborted before the start ends the command at once', async () => {
  const end = await run('sleep 60', { signal: AbortSignal.abort() });
  expect(end.cause).toBe('aborted');
});
