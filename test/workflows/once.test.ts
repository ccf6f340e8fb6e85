import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/content.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness();
  const configuration = ['agents:', '  default:', '    allowCommands: true', '    tools: [run_command, read_file]'];
  await writeFile(join(harness.workspace, 'holdfast.yaml'), `${configuration.join('\n')}\n`);
});

afterAll(() => harness.stop());

test('a command whose worker died after it acted is not run again: the model is told that the outcome is unknown', async () => {
  const doomed = await startWorkerProcess(harness, { HOLDFAST_CRASH_POINTS: 'runTool:finished' });
  const sent = await harness.client.startTask({ task: 'Call run_command with {"command": "echo ran >> journal.txt"}' });
  expect(await doomed.exited).toMatchObject({ signal: 'SIGKILL' });
  const successor = await startWorkerProcess(harness);
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 40_000 });
  successor.kill('SIGTERM');
  expect(await successor.exited).toMatchObject({ code: 0 });
  expect(turn.outcome).toBe('completed');
  expect(await readFile(join(harness.workspace, 'journal.txt'), 'utf8')).toBe('ran\n');
  const entries = await harness.client.listEntries({ conversationId: sent.conversationId });
  const results = entries.filter((entry) => entry.kind === 'tool_result').map((entry) => textOf(entry.content));
  expect(results).toEqual([
    expect.stringMatching(/^Outcome unknown: this call began at .* Check before you repeat it\.$/),
  ]);
});
