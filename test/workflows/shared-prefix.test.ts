import { afterEach, beforeAll, expect, test } from 'vitest';
import { useTurnHarness } from '../support/turn-harness.ts';
import { writeLogs } from './presets/scenario.ts';

const harness = useTurnHarness();

beforeAll(async () => {
  await writeLogs(harness, 9, 200);
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());

/** Without cache marks, which move on, and the fields behind the prompt. */
function promptOf(body: unknown): string {
  const {
    max_tokens: _limit,
    max_output_tokens: _other,
    max_completion_tokens: _third,
    ...prompt
  } = body as Record<string, unknown>;
  return JSON.stringify(prompt).replaceAll(/,?"cache_control":\{[^}]*\}/g, '');
}

/** The share of a request that the next one begins with, breakpoint marks aside. */
function keptShare(request: unknown, next: unknown): number {
  const [before, after] = [request, next].map((body) =>
    Buffer.from(JSON.stringify(body).replaceAll(/,?"cache_control":\{[^}]*\}/g, '')),
  );
  if (before === undefined || after === undefined) return 0;
  let length = 0;
  while (length < before.length && before[length] === after[length]) length += 1;
  return length / before.length;
}

/** Messages of a summary's request that stand in the request before it too, the order aside. */
function sharesBeginning(last: unknown, summary: unknown): boolean {
  const [before, after] = [promptOf(last), promptOf(summary)];
  let length = 0;
  while (length < before.length && before[length] === after[length]) length += 1;
  return after.slice(length).includes('interrupted here for its summary') && length > before.length / 2;
}

const TASK = 'Call read_file with {"path": "log-$index.txt"} 9 times, one by one';

test.each(['simulator', 'simulator-chat', 'simulator-responses'])(
  'R27 %s: a summary is asked for behind the beginning of the last request, and reads 85 percent and more from the cache',
  async (provider) => {
    const before = (await harness.asked()).total;
    const turn = await harness.runTask(TASK, { model: `${provider}/sim-32k` });
    expect(turn).toMatchObject({ outcome: 'completed' });
    const { requests } = await harness.requests();
    const own = requests.slice(before);
    const at = own.findIndex(({ purpose }) => purpose === 'summary');
    expect(own[at - 1]?.purpose).toBe('agent');
    // Each step's request begins with the bytes of the one before, from the first on.
    const steps = own.slice(0, at).map(({ body }) => body);
    expect(steps.length).toBeGreaterThan(4);
    for (const [index, next] of steps.slice(1).entries()) {
      expect(keptShare(steps[index], next)).toBeGreaterThanOrEqual(0.98);
    }
    expect(sharesBeginning(own[at - 1]?.body, own[at]?.body)).toBe(true);
    const [summary] = await harness.client.log.summaries({ conversationId: turn.conversationId });
    expect(summary).toMatchObject({ modelCalls: 1, form: 'summary' });
    expect((summary?.cacheReadTokens ?? 0) / (summary?.inputTokens ?? 1)).toBeGreaterThanOrEqual(0.85);
  },
);

test('R19 a model that calls a tool instead of summarizing is asked again with a transcript', async () => {
  await harness.fault({ kind: 'summary_tool_call', times: 1 });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed' });
  const [summary] = await harness.client.log.summaries({ conversationId: turn.conversationId });
  expect(summary).toMatchObject({ modelCalls: 2 });
});
