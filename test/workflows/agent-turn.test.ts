import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHistory } from '../../src/demo/history.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness();
  await harness.startWorker();
});

afterAll(() => harness.stop());

test('a task runs to its answer through a tool call, each step three activities', async () => {
  await writeFile(join(harness.workspace, 'note.txt'), 'the answer is 42\n');
  const turn = await harness.runTask('Call read_file with {"path": "note.txt"}');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 2, compactions: 0, overflows: 0 });
  const entries = await harness.client.listEntries({ conversationId: turn.conversationId });
  expect(entries.map((entry) => entry.kind)).toEqual(['user', 'assistant', 'tool_result', 'assistant']);
  expect(JSON.stringify(entries[2]?.content)).toContain('the answer is 42');
});

test('a long turn goes on in new runs, so that none has a history that takes long to replay', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 70 times, one by one');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 71 });
  const { continuedAsNew, events } = await readHistory(harness.temporal, turn.conversationId);
  expect(events).toBeGreaterThan(1_000);
  expect(continuedAsNew).toBe(1);
});
