import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TimelineEvent } from '../../src/client/types.ts';
import { retryDelayMilliseconds, SUMMARY_RETRIES } from '../../src/turn/limits.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

let harness: TurnHarness;
const task = (files: number): string => `Call read_file with {"path": "log-$index.txt"} ${files} times, one by one`;

beforeAll(async () => {
  // Every pass asks for a summary, whatever reducing alone would win.
  harness = await startTurnHarness({
    agent: { model: 'simulator/sim-8k', policy: { summary: { when: 'always' } } },
  });
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

test('R21 G18 W25 when every summary is empty it is asked for again after 1, 2, 4, 8 and 16 s, then the extractive form follows, and the event names it', async () => {
  await harness.fault({ kind: 'summary_empty', times: null });
  const sent = await harness.client.start(task(6), { model: 'simulator/sim-8k' });
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 115_000 });
  expect(turn.outcome).toBe('completed');
  const summaries = await harness.client.log.summaries({ conversationId: sent.conversationId });
  expect(summaries.map((summary) => summary.form)).toContain('extractive_summary');
  const events = await eventsOf(sent.conversationId);
  expect(events.map(({ kind }) => kind)).toContain('compaction_form_failed');
  const refused = events.filter((event) => event.kind === 'compaction_part_failed').slice(0, SUMMARY_RETRIES + 1);
  expect(refused.map(({ data }) => data.failures)).toEqual([1, 2, 3, 4, 5, 6]);
  for (const [index, { createdAt }] of refused.slice(1).entries()) {
    const waited = Date.parse(createdAt) - Date.parse(refused[index]?.createdAt ?? '');
    // The failure is written a moment before Temporal begins to wait, and answers come at different speeds.
    expect(waited).toBeGreaterThan(retryDelayMilliseconds(index + 1) * 0.9);
  }
}, 400_000);

test('R19 R20 a summary that calls a tool, or has no sections, is refused and asked for again', async () => {
  await harness.fault({ kind: 'summary_tool_call', times: 1 });
  await harness.fault({ kind: 'summary_without_sections', times: 1 });
  const turn = await harness.runTask(task(8));
  expect(turn.outcome).toBe('completed');
  const summaries = await harness.client.log.summaries({ conversationId: turn.conversationId });
  for (const summary of summaries) expect(summary.text === null || summary.text.trim().length > 0).toBe(true);
  const events = await eventsOf(turn.conversationId);
  expect(events.map(({ kind }) => kind)).toContain('compaction_part_failed');
});

async function eventsOf(conversationId: string): Promise<TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  const abort = new AbortController();
  const { turn } = await harness.client.conversation.get({ conversationId });
  for await (const update of harness.client.conversation.watch({
    conversationId,
    liveText: false,
    signal: abort.signal,
  })) {
    if (update.type !== 'event') continue;
    events.push(update.event);
    if (update.event.kind === 'turn_ended' && update.event.turnId === turn?.turnId) abort.abort();
  }
  return events;
}
