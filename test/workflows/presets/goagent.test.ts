import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../../support/turn-harness.ts';
import type { TurnHarness } from '../../support/turn-harness.ts';
import { eventsOf, MODEL, readTask, writeLogs } from './scenario.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { model: MODEL, preset: 'goagent' } });
  await writeLogs(harness, 11, 2_500);
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());
afterAll(() => harness.stop());

test('G10 the summary lists the files that were read', async () => {
  const turn = await harness.runTask(readTask(10), { timeoutMilliseconds: 200_000 });
  const [summary] = await harness.client.listSummaries({ conversationId: turn.conversationId });
  expect(summary?.text).toMatch(/<read-files>\nlog-1\.txt\n[\s\S]*<\/read-files>/);
}, 220_000);

test('G14 the event tells tokens before and after, and how many messages were removed', async () => {
  const turn = await harness.runTask(readTask(10), { timeoutMilliseconds: 200_000 });
  const committed = (await eventsOf(harness, turn.conversationId)).find(({ kind }) => kind === 'compaction_committed');
  const [summary] = await harness.client.listSummaries({ conversationId: turn.conversationId });
  expect(committed?.data).toMatchObject({
    tokensBefore: summary?.tokensBefore,
    tokensAfter: summary?.tokensAfter,
    messagesRemoved: summary?.coveredThroughSequence,
  });
}, 220_000);

test('G17 the end of a turn tells what the window holds: counted by the provider, and estimated after that', async () => {
  const turn = await harness.runTask('Call read_file with {"path": "log-1.txt"}\nSay done');
  const events = await eventsOf(harness, turn.conversationId);
  const answered = events.findLast(({ kind }) => kind === 'model_call_answered')?.data ?? {};
  const ended = events.findLast(({ kind }) => kind === 'turn_ended')?.data ?? {};
  expect(ended['usageTokens']).toBe(Number(answered['inputTokens']) + Number(answered['outputTokens']));
  expect(ended['trailingTokens']).toBe(0);
  expect(Math.abs(Number(ended['contextTokens']) - Number(ended['usageTokens']))).toBeLessThan(200);
});

test('G17 without a count since the newest compaction everything is estimated', async () => {
  const turn = await harness.runTask('Say hello', {});
  const asked = await harness.client.requestCompaction({ conversationId: turn.conversationId });
  await harness.client.waitForOutcome({ ...asked, timeoutMilliseconds: 30_000 });
  const ended =
    (await eventsOf(harness, turn.conversationId)).findLast(({ kind }) => kind === 'turn_ended')?.data ?? {};
  expect(Number(ended['contextTokens'])).toBeGreaterThan(0);
  expect(ended['trailingTokens']).toBeDefined();
});

test('G15 switched off, the provider’s overflow ends the turn', async () => {
  const own = await startTurnHarness({ agent: { model: MODEL, preset: 'goagent', policy: { enabled: false } } });
  try {
    await writeLogs(own, 2);
    await own.startWorker();
    await own.fault({ kind: 'overflow', times: 1, skip: 1, match: { purpose: 'agent' } });
    const turn = await own.runTask(readTask(2));
    expect(turn).toMatchObject({ outcome: 'context_exhausted', overflows: 1, compactions: 0 });
  } finally {
    await own.stop();
  }
}, 120_000);
