import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

beforeAll(async () => {
  // Continues as new every few steps: what the guard counts must survive it.
  harness = await startTurnHarness({
    temporalAddress: inject('shortHistoryTemporalAddress'),
    agent: { model: 'simulator/sim-8k', limits: { repeatedCalls: 16 } },
  });
  await writeFile(join(harness.workspace, 'log.txt'), 'pump 7 opens at 21 bar\n'.repeat(200));
  await harness.startWorker();
}, 400_000);

afterAll(async () => {
  await harness.stop();
});

test('a turn that makes the same call with the same result again and again ends with an explanation, and goes on', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "missing"} 40 times, one by one');
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'calls_repeated', steps: 16 });
  expect(turn.explanation).toContain('limits.repeatedCalls');
  expect((await harness.runTask('Say on', { conversationId: turn.conversationId })).outcome).toBe('completed');
});

test('a turn whose window fills again and again with what it knows already ends at the second fruitless compaction', async () => {
  const turn = await harness.runTask('Call read_file with {"path": "log.txt"} 15 times, one by one');
  expect(turn).toMatchObject({
    outcome: 'budget_exhausted',
    reason: 'compactions_without_progress',
    // The first compaction came after something new, the next two did not.
    compactions: 3,
  });
  expect(turn.steps).toBeLessThan(15);
});

test('a turn that gets on is not disturbed, however often its window fills', async () => {
  const turn = await harness.runTask(
    'Call read_file with {"path": "log.txt", "offset": "$index"} 4 times, one by one\nCall search_files with {"pattern": "pump $index"} 20 times, one by one',
  );
  expect(turn.outcome).toBe('completed');
});
