import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { property } from '../../src/models/json.ts';
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

test('what the server itself lists of a model counts for the next turn, and can make it larger too', async () => {
  const model = 'simulator/sim-32k';
  await harness.client.storeServedModel({ model, server: harness.simulatorUrl, window: 40_000, maximumOutput: null });
  expect(await harness.client.listServedModels()).toMatchObject([{ model, window: 40_000, maximumOutput: null }]);
  const { conversationId } = await harness.runTask('Say listed');
  expect(await windows(conversationId)).toEqual([40_000]);
  await harness.database`delete from served_models`;
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

test('a cap on messages that an error names compacts by count, then and before it would be reached again', async () => {
  const words =
    "Invalid 'messages': array too long. Expected an array with maximum length 8, but got an array with length 10.";
  await harness.fault({
    kind: 'status',
    status: 400,
    body: { error: { message: words } },
    skip: 3,
    match: { purpose: 'agent' },
  });
  const { total } = await harness.requests();
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 2 });
  const learned = await harness.database`select tokens, messages from learned_windows where messages is not null`;
  expect(learned.map(({ messages }) => messages)).toEqual([8]);
  const { requests } = await harness.requests();
  const sent = requests.slice(total).filter(({ purpose, status }) => purpose === 'agent' && status === 200);
  const counts = sent.map(({ body }) => (property(body, 'messages') as readonly unknown[]).length);
  expect(counts.length).toBe(5);
  for (const count of counts) expect(count).toBeLessThanOrEqual(8);
});
