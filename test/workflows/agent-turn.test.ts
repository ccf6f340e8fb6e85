import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Holdfast } from '../../src/client/holdfast.ts';

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
  expect(turn.text).toMatch(/^Done: 1 tool result/u);
  expect(turn.explanation).toBe('The turn completed.');
  const { items: entries } = await harness.client.log.entries({ conversationId: turn.conversationId });
  expect(entries.map((entry) => entry.kind)).toEqual(['user', 'assistant', 'tool_result', 'assistant']);
  expect(JSON.stringify(entries[2]?.content)).toContain('the answer is 42');
});

test('a turn that ends without an answer has no text, and an explanation that says what to do', async () => {
  await harness.fault({ kind: 'status', status: 401, times: null });
  const turn = await harness.runTask('Say nothing.');
  await harness.clearFaults();
  expect(turn).toMatchObject({ outcome: 'model_failed', text: '' });
  expect(turn.explanation).toMatch(/then send a message to go on\.$/u);
});

test('a long turn goes on in new runs, so that none has a history that takes long to replay', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing-$index"} 70 times, one by one');
  expect(turn).toMatchObject({ outcome: 'completed', steps: 71 });
  const { continuedAsNew, events } = await readHistory(harness.temporal, turn.conversationId);
  expect(events).toBeGreaterThan(1_000);
  expect(continuedAsNew).toBe(1);
  await expectPages(turn.conversationId, 142);
});

/** Without bounds the newest entries are listed, and each page says whether there are more. */
async function expectPages(conversationId: string, count: number): Promise<void> {
  const sequencesOf = async (bounds: Omit<Parameters<Holdfast['log']['entries']>[0], 'conversationId'>) => {
    const { items, hasMore } = await harness.client.log.entries({ conversationId, ...bounds });
    return { first: items[0]?.sequence, last: items.at(-1)?.sequence, hasMore };
  };
  const newest = { first: count - 99, last: count, hasMore: true };
  expect(await sequencesOf({})).toEqual(newest);
  expect(await sequencesOf({ beforeSequence: newest.first })).toEqual({ first: 1, last: count - 100, hasMore: false });
  expect(await sequencesOf({ afterSequence: 0, limit: 10 })).toEqual({ first: 1, last: 10, hasMore: true });
  expect(await sequencesOf({ afterSequence: count - 1 })).toEqual({ first: count, last: count, hasMore: false });
}
