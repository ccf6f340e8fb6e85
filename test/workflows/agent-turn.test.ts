import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkingHarness } from '../support/turn-harness.ts';

const harness = useWorkingHarness();

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

test('a turn that ends without an answer has no text, and an explanation that says what to do; the conversation goes on', async () => {
  await harness.fault({ kind: 'status', status: 401, times: null });
  const turn = await harness.runTask('Say nothing.');
  await harness.clearFaults();
  expect(turn).toMatchObject({ outcome: 'model_failed', text: '' });
  expect(turn.explanation).toMatch(/then send a message to go on\.$/u);
  const next = await harness.runTask('Say it goes on', { conversationId: turn.conversationId });
  expect(next.outcome).toBe('completed');
});
