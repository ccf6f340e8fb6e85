import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;
const TASK = 'Call read_file with {"path": "log-$index.txt"} 4 times, one by one';

beforeAll(async () => {
  harness = await startTurnHarness();
  for (let file = 1; file <= 4; file += 1) {
    const lines = Array.from({ length: 150 }, (_, index) => `line ${index}: pump ${index * 7} opens at ${file} bar\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());
afterAll(() => harness.stop());

async function windows(conversationId: string): Promise<number[]> {
  const rows = await harness.database<{ window: number }[]>`
    select (model_limits ->> 'window')::int as window from turns
    where conversation_id = ${conversationId} order by begun_at`;
  return rows.map((row) => row.window);
}

test('a smaller window that an error names counts from then on, at that server, until it is forgotten', async () => {
  await harness.fault({ kind: 'overflow', limit: 10_000, times: 1, skip: 4, match: { purpose: 'agent' } });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 1 });
  const { conversationId } = turn;
  const learned = await harness.database`select model, server, tokens from learned_windows`;
  expect([...learned]).toEqual([{ model: 'simulator/sim-32k', server: harness.simulatorUrl, tokens: 10_000 }]);
  await harness.runTask('Say on', { conversationId });
  await harness.database`update learned_windows set learned_at = learned_at - interval '31 days'`;
  await harness.runTask('Say forgotten', { conversationId });
  expect(await windows(conversationId)).toEqual([10_000, 10_000, 32_768]);
});

test("a refusal that nothing repairs ends the turn with the vendor's words, which nobody logs, and the conversation goes on", async () => {
  const message = 'The frobnication level of this heron is not supported.';
  await harness.fault({ kind: 'status', status: 400, body: { error: { message } }, match: { purpose: 'agent' } });
  const turn = await harness.runTask('Say hello');
  expect(turn).toMatchObject({ outcome: 'model_failed' });
  expect(turn.explanation).toContain(message);
  expect(await harness.history(turn.conversationId)).not.toContain('frobnication');
  const next = await harness.runTask('Say it goes on', { conversationId: turn.conversationId });
  expect(next.outcome).toBe('completed');
});
