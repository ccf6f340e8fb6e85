import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { summaryListLines } from '../../src/cli/render/summary-list.ts';
import { PLAIN_STYLE } from '../../src/cli/render/style.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { SimulatorReport, TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { policy: { summary: { when: 'always' } } } });
  for (let file = 1; file <= 16; file += 1) {
    const lines = Array.from({ length: 120 }, (_, index) => `line ${index}: pump ${index * 7} opens at ${file} bar\n`);
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());
afterAll(() => harness.stop());

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

/** How much of the request before a summary's stands at the beginning of the summary's, closing brackets aside. */
function sharedShare(requests: SimulatorReport['requests'], at: number): number {
  const [last, summary] = [requests[at - 1], requests[at]].map((request) => promptOf(request?.body));
  if (last === undefined || summary === undefined) return 0;
  let length = 0;
  while (length < last.length && last[length] === summary[length]) length += 1;
  return length / last.length;
}

const TASK = 'Call read_file with {"path": "log-$index.txt"} 16 times, one by one';

test.each(['simulator', 'simulator-chat', 'simulator-responses'])(
  'R27 %s: a summary is asked for behind the last request, which it repeats whole, and reads 85 percent and more from the cache',
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
    expect(sharedShare(own, at)).toBeGreaterThanOrEqual(0.98);
    const [summary] = await harness.client.log.summaries({ conversationId: turn.conversationId });
    expect(summary).toMatchObject({ request: 'shared_prefix', modelCalls: 1, form: 'summary' });
    expect((summary?.cacheReadTokens ?? 0) / (summary?.inputTokens ?? 1)).toBeGreaterThanOrEqual(0.85);
    const shown = summaryListLines(summary === undefined ? [] : [summary], {
      columns: null,
      style: PLAIN_STYLE,
      full: false,
    });
    expect(shown.join('\n')).toMatch(/asked behind the last request: [\d,]+ tokens, \d+ % from the cache/);
  },
);

test('R19 a model that calls a tool instead of summarizing is asked again with a transcript', async () => {
  await harness.fault({ kind: 'summary_tool_call', times: 1 });
  const turn = await harness.runTask(TASK);
  expect(turn).toMatchObject({ outcome: 'completed' });
  const [summary] = await harness.client.log.summaries({ conversationId: turn.conversationId });
  expect(summary).toMatchObject({ request: 'transcript', modelCalls: 2 });
});

test('a summary that was asked behind the last request tells what followed its cut only where that was said', async () => {
  const said = 'PURPLE-777';
  const first = await harness.runTask('Call read_file with {"path": "log-$index.txt"} 3 times, one by one');
  const { conversationId } = first;
  await harness.runTask(`Say My newest answer is ${said}.`, { conversationId });
  const asked = await harness.client.conversation.compact({ conversationId });
  await harness.client.conversation.outcome({ ...asked, timeoutMilliseconds: 120_000 });
  const [summary] = await harness.client.log.summaries({ conversationId });
  expect(summary).toMatchObject({ request: 'shared_prefix' });
  expect(summary?.text).toContain(said);
  const newest = (await harness.client.log.entries({ conversationId, limit: 500 })).items.findLast(
    ({ kind }) => kind === 'user',
  );
  const entryId = newest?.entryId ?? '';
  const edited = await harness.client.branches.edit({ conversationId, entryId, content: 'Say Another answer.' });
  await harness.client.conversation.outcome({ ...edited, timeoutMilliseconds: 120_000 });
  const { view } = await harness.client.log.view({ conversationId });
  expect(JSON.stringify(view)).toContain('Another answer.');
  expect(JSON.stringify(view)).not.toContain(said);
  // Nothing of it is lost: on its own branch it is in force.
  const back = await harness.client.branches.switch({ conversationId, branch: 0, summarize: false });
  await harness.client.conversation.outcome({ ...back, timeoutMilliseconds: 120_000 });
  await harness.runTask('Say Back again.', { conversationId });
  const { view: own } = await harness.client.log.view({ conversationId });
  expect(JSON.stringify(own)).toContain('Back again.');
  expect(JSON.stringify(own)).toContain(said);
  const [lineage] = await harness.client.log.lineage({ conversationId });
  const { items: entries } = await harness.client.log.entries({ conversationId, limit: 500 });
  const answer = entries.findLast(({ content }) => JSON.stringify(content).includes(said));
  expect(lineage?.readThroughSequence).toBeGreaterThanOrEqual(answer?.sequence ?? Infinity);
  const [row] = await harness.database<{ through: number }[]>`
    select read_through_sequence as through from compaction_lineage where conversation_id = ${conversationId}`;
  expect(row?.through).toBe(answer?.sequence);
});
