import { expect, inject, onTestFinished, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { runHistories } from './support/scripted-turn.ts';

/** Suggests a new run in the middle of a compaction. */

/** A wish to compact a conversation in more parts than run at once, whose worker is not started. */
async function startManyParts() {
  const harness = await startTurnHarness({
    temporalAddress: inject('shortHistoryTemporalAddress'),
    agent: { model: 'simulator/sim-64k', policy: { summary: { model: 'simulator/sim-8k' } } },
  });
  onTestFinished(() => harness.stop());
  const { conversationId } = await harness.client.startTask({ task: 'Say ready' });
  for (let number = 0; number < 22; number += 1) {
    const lines = Array.from({ length: 160 }, (_, line) => `Pump ${number}-${line} opens at ${line}.5 bar.`);
    const content = `Say ${number}.\n${lines.join('\n')}`;
    await harness.client.sendMessage({ conversationId, content, mode: 'steer' });
  }
  const asked = await harness.client.requestCompaction({ conversationId });
  return { harness, conversationId, asked };
}

/** How often each run of the conversation asked for this activity, newest run first. */
async function scheduledIn({ temporal }: TurnHarness, conversationId: string, activity: string): Promise<number[]> {
  const runs = await runHistories(temporal, conversationId);
  return runs.map(
    (events) =>
      events.filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === activity).length,
  );
}

test('what is written of a compaction is not asked for again in the next run', async () => {
  const { harness, conversationId, asked } = await startManyParts();
  await harness.startWorker();
  const turn = await harness.client.waitForOutcome({ ...asked, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'completed', compactions: 1 });
  const parts = await harness.database`select from compaction_parts`;
  expect(parts.length).toBeGreaterThan(8);
  const summarized = await scheduledIn(harness, conversationId, 'summarize');
  expect(summarized.filter((count) => count > 0).length).toBeGreaterThan(1);
  expect(summarized.reduce((sum, count) => sum + count, 0)).toBe(parts.length);
  expect((await harness.asked()).summary).toBe(parts.length);
});

test('a message that comes within a compaction of several runs is taken after its commit', async () => {
  const { harness, conversationId, asked } = await startManyParts();
  await harness.fault({ kind: 'delay', milliseconds: 700, times: null, match: { purpose: 'summary' } });
  await harness.startWorker();
  await waitUntil('summaries are asked for', async () => (await harness.asked()).summary >= 8);
  const sent = await harness.client.sendMessage({ conversationId, content: 'Say steered', mode: 'steer' });
  const written = await harness.database`select from compaction_parts where state = 'written'`;
  // Parts of the first run are still being written.
  expect(written.length).toBeLessThan(8);
  await harness.client.waitForOutcome({ ...asked, timeoutMilliseconds: 120_000 });
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'completed', compactions: 1 });
  const compactions = await harness.database`select status from compactions`;
  expect(compactions.map(({ status }) => status)).toEqual(['committed']);
  const summarized = await scheduledIn(harness, conversationId, 'summarize');
  expect(summarized.filter((count) => count > 0).length).toBeGreaterThan(1);
  const { items: entries } = await harness.client.listEntries({ conversationId });
  const kinds = entries.map(({ kind, content }) => (textOf(content) === 'Say steered' ? 'steered' : kind));
  expect(kinds.indexOf('steered')).toBeGreaterThan(kinds.indexOf('compaction'));
  expect(textOf(entries.at(-1)?.content ?? [])).toContain('steered');
});
