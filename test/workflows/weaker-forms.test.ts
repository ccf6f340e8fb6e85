import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;
const task = (files: number): string => `Call read_file with {"path": "log-$index.txt"} ${files} times, one by one`;

beforeAll(async () => {
  // Every pass asks for a summary, whatever reducing alone would win.
  harness = await startTurnHarness({ agent: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } } });
  for (let file = 1; file <= 8; file += 1) {
    const lines = Array.from(
      { length: 80 },
      (_, index) => `pump ${file * 100 + index} opens at ${index * 3 + file} bar\n`,
    );
    await writeFile(join(harness.workspace, `log-${file}.txt`), lines.join(''));
  }
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());
afterAll(() => harness.stop());

test('R21 G18 when every summary is empty the extractive form follows, and the event names it', async () => {
  await harness.fault({ kind: 'summary_empty', times: null });
  const sent = await harness.client.startTask({ task: task(6), model: 'simulator/sim-8k' });
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 115_000 });
  expect(turn.outcome).toBe('completed');
  const summaries = await harness.client.listSummaries({ conversationId: sent.conversationId });
  expect(summaries.map((summary) => summary.form)).toContain('extractive_summary');
  const failed = await eventKinds(sent.conversationId);
  expect(failed).toContain('compaction_form_failed');
}, 400_000);

test('R19 R20 a summary that calls a tool, or has no sections, is refused and asked for again', async () => {
  await harness.fault({ kind: 'summary_tool_call', times: 1 });
  await harness.fault({ kind: 'summary_without_sections', times: 1 });
  const turn = await harness.runTask(task(8));
  expect(turn.outcome).toBe('completed');
  const summaries = await harness.client.listSummaries({ conversationId: turn.conversationId });
  for (const summary of summaries) expect(summary.text === null || summary.text.trim().length > 0).toBe(true);
  expect(await eventKinds(turn.conversationId)).toContain('compaction_part_failed');
});

async function eventKinds(conversationId: string): Promise<string[]> {
  const kinds: string[] = [];
  const abort = new AbortController();
  const { turn } = await harness.client.getConversation(conversationId);
  for await (const update of harness.client.watch({ conversationId, liveText: false, signal: abort.signal })) {
    if (update.type !== 'event') continue;
    kinds.push(update.event.kind);
    if (update.event.kind === 'turn_ended' && update.event.turnId === turn?.turnId) abort.abort();
  }
  return kinds;
}
