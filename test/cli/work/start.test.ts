import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { TurnSummary } from '../../../src/client/types.ts';
import { useWorkingHarness } from '../../support/turn-harness.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { parseOutput } from '../cli-result.ts';
import { startCli } from '../run-cli.ts';
import type { CliOptions, CliResult } from '../cli-result.ts';
import type { RunningCli } from '../run-cli.ts';
import { runInProcess } from '../run-in-process.ts';

const options = (): CliOptions => ({ environment: harness.environment, directory: harness.workspace });
const cli = async (...args: readonly string[]): Promise<CliResult> => runInProcess(args, options());
const begin = (...args: readonly string[]): RunningCli => startCli(args, options());

/** A conversation whose model never answers. */
async function startHanging(): Promise<string> {
  await harness.fault({ kind: 'hang', times: null });
  const { conversationId } = await harness.client.start('Say never.');
  await waitUntil('the model is called', async () => {
    const { turn } = await harness.client.conversation.get({ conversationId });
    return turn !== null && (await harness.asked()).total > 0;
  });
  return conversationId;
}

async function outcomeOf(conversationId: string): Promise<TurnSummary['outcome']> {
  return (await harness.client.conversation.get({ conversationId })).turn?.outcome ?? null;
}

const WATCHED = z.object({ event: z.object({ kind: z.string() }).optional() });

/** Without what a slow machine may add: that Temporal or a worker has not answered yet. */
const errorsIn = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => line !== '' && !/^(?:warning|!)/u.test(line));

const harness = useWorkingHarness();

describe('start', () => {
  test('in a pipe prints plain lines: message, tool calls, answer, outcome', async () => {
    const { code, stdout, stderr } = await cli('start', 'Call list_files with {"path":"."}\nSay All is listed.');
    expect([code, errorsIn(stderr)]).toEqual([0, []]);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/^conversation [0-9a-f]{8}\n/u);
    expect(stdout).toContain('> Call list_files');
    expect(stdout).toMatch(/^ {2}✓ list_files \. {2}[\d.]+ K?B {2}[\d.]+ s$/mu);
    expect(stdout).toContain('\nAll is listed.\n');
    expect(stdout).toMatch(/✓ completed\n {2}2 steps · .* tokens in/u);
  });

  test('reads the task from standard input', async () => {
    const { stdout, code } = await runInProcess(['start', '-'], { ...options(), input: 'Say From the pipe.\n' });
    expect(code).toBe(0);
    expect(stdout).toContain('\nFrom the pipe.\n');
  });

  test('with --json prints one object when the turn has ended, with an answer in the form of --output', async () => {
    await writeFile(
      join(harness.workspace, 'form.json'),
      '{"type": "object", "properties": {"n": {"type": "number"}}}',
    );
    const refused = await cli('start', 'Say no', '--output', join(harness.workspace, 'none.json'));
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('none.json is no file')]);
    const form = join(harness.workspace, 'form.json');
    const result = await cli('start', 'Say {"n": 42}', '--output', form, '--json');
    expect([result.code, errorsIn(result.stderr)]).toEqual([0, []]);
    expect(JSON.parse(result.stdout)).toMatchObject({
      outcome: 'completed',
      answer: '{"n": 42}',
      turn: { steps: 1, outcome: 'completed' },
      conversationId: expect.stringMatching(/^[0-9a-f-]{36}$/u),
    });
  });

  test('with --detach returns at once, and watch shows the turn from its beginning', async () => {
    const started = await cli('start', 'Say Later.', '--detach', '--json');
    const { conversationId, messageId } = parseOutput(
      started,
      z.object({ conversationId: z.string(), messageId: z.string() }),
    );
    await harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 240_000 });
    const watched = await cli('watch', conversationId);
    expect(watched.code).toBe(0);
    expect(watched.stdout).toContain('> Say Later.');
    expect(watched.stdout).toContain('\nLater.\n');
    const lines = (await cli('watch', conversationId, '--json')).stdout.trim().split('\n');
    const kinds = lines.map((line) => WATCHED.parse(JSON.parse(line)).event?.kind);
    expect(kinds[0]).toBe('turn_begun');
    expect(kinds.at(-1)).toBe('turn_ended');
  });

  test('a turn that does not complete is exit code 1 with what to do', async () => {
    await harness.fault({ kind: 'status', status: 401 });
    const { code, stdout } = await cli('start', 'Say nothing.');
    await harness.clearFaults();
    expect(code).toBe(1);
    expect(stdout).toContain('✗ model failed');
    expect(stdout).toMatch(/next: npx holdfast show [0-9a-f]{8}/u);
  });
});

describe('leaving and stopping', () => {
  test('Ctrl-C leaves, says how to watch again, and the turn goes on', async () => {
    await harness.fault({ kind: 'hang', times: null });
    const running = begin('start', 'Say Still here.');
    await waitUntil('the turn is shown', () => running.stdout().includes('> Say Still here.'));
    running.process.kill('SIGINT');
    const { code, stdout } = await running.ended;
    await harness.clearFaults();
    expect(code).toBe(130);
    const [{ conversationId } = { conversationId: '' }] = (await harness.client.conversation.list({ limit: 1 })).items;
    expect(stdout).toContain(`conversation ${conversationId.slice(-8)}\n`);
    expect(stdout).toContain(`npx holdfast watch ${conversationId.slice(-8)}`);
    expect(await outcomeOf(conversationId)).toBeNull();
    await harness.client.conversation.stop({ conversationId });
    await waitUntil('it ends', async () => (await outcomeOf(conversationId)) !== null);
  });

  test('stop ends a running turn, and who watches it learns that', async () => {
    const conversationId = await startHanging();
    const watching = begin('watch', conversationId);
    await waitUntil('the turn is shown', () => watching.stdout().includes('> Say never.'));
    const stopped = await cli('stop', conversationId);
    await harness.clearFaults();
    expect([stopped.code, errorsIn(stopped.stderr)]).toEqual([0, []]);
    expect(stopped.stdout).toContain('Stopped.');
    const { code, stdout } = await watching.ended;
    expect(code).toBe(1);
    expect(stdout).toContain('✗ stopped');
    expect((await cli('stop', conversationId)).stdout).toContain('No turn is running');
  });

  test('send starts a turn in an idle conversation, counts the same id once, and with --watch shows the turn to its end', async () => {
    const { conversationId, messageId } = await harness.client.start('Say One.');
    await harness.client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 240_000 });
    const id = `second-of-${conversationId}`;
    const sent = await cli('send', conversationId.slice(-8), 'Say Two.', '--message-id', id);
    expect([errorsIn(sent.stderr), sent.stdout]).toEqual([[], expect.stringContaining('a turn begins with it')]);
    const again = parseOutput(
      await cli('send', conversationId, 'Say Two.', '--message-id', id, '--json'),
      z.object({ duplicate: z.boolean() }),
    );
    expect(again.duplicate).toBe(true);
    const turn = await harness.client.conversation.outcome({
      conversationId,
      messageId: id,
      timeoutMilliseconds: 240_000,
    });
    expect(turn.outcome).toBe('completed');
    const other = await cli('send', conversationId, 'Say Three.', '--message-id', id);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('message_id_reused')]);
    const watched = await cli('send', conversationId, 'Say Four.', '--watch');
    expect([watched.code, watched.stdout]).toEqual([
      0,
      expect.stringMatching(/> Say Four\.[^]*\nFour\.\n[^]*✓ completed/u),
    ]);
    expect(watched.stdout).not.toContain('Say Two.');
  });
});
