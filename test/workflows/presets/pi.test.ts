import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../../support/turn-harness.ts';
import type { TurnHarness } from '../../support/turn-harness.ts';
import {
  EVERY_ACTIVITY,
  eventsOf,
  expectWholeLog,
  killOnceAt,
  MODEL,
  partsOf,
  readTask,
  requestBodies,
  writeLogs,
} from './scenario.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness({ agent: { model: MODEL, preset: 'pi' } });
  await writeLogs(harness, 11);
});

afterEach(() => harness.clearFaults());
afterAll(() => harness.stop());

test('P15 killed once in every kind of activity, a split turn still gets its parallel summaries, and nothing is lost', async () => {
  const { conversationId } = await harness.client.startTask({ task: 'Say ready', preset: 'pi', model: MODEL });
  const sent = await harness.client.sendMessage({ conversationId, content: readTask(11), mode: 'queue' });
  await killOnceAt(harness, EVERY_ACTIVITY);
  const turn = await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  expect((await partsOf(harness, conversationId)).map((part) => part.kind)).toContain('turn_prefix');
  await expectWholeLog(harness, conversationId, 11);
}, 300_000);

test('P15 P16 P21 at 200,000 tokens a long turn is split: two summaries at once, one text with the files', async () => {
  const first = await harness.runTask(readTask(2), { timeoutMilliseconds: 100_000 });
  const { conversationId } = first;
  const turn = await harness.runTask(readTask(10), { conversationId, timeoutMilliseconds: 200_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  const [compaction] = await harness.client.listSummaries({ conversationId });
  const parts = (await partsOf(harness, conversationId)).filter(
    (part) => part.compaction_id === compaction?.compactionId,
  );
  expect(parts.map(({ kind, wave, state }) => ({ kind, wave, state }))).toEqual([
    { kind: 'history', wave: 1, state: 'written' },
    { kind: 'turn_prefix', wave: 1, state: 'written' },
  ]);
  expect(compaction?.text).toContain('\n\n---\n\n**Turn Context (split turn):**\n\n## Original Request');
  expect(compaction?.text).toMatch(/<read-files>\nlog-1\.txt\n[\s\S]*<\/read-files>$/);
  // The next request shows the text.
  expect((await requestBodies(harness, 'agent')).at(-1)).toContain('Turn Context (split turn)');
}, 320_000);

test('P26 start and end are told with their reason, and whether the call is made again', async () => {
  await harness.fault({ kind: 'overflow', times: 1, skip: 3, match: { purpose: 'agent' } });
  const turn = await harness.runTask(readTask(4), { timeoutMilliseconds: 100_000 });
  const events = await eventsOf(harness, turn.conversationId);
  const told = events.filter(({ kind }) => kind === 'compaction_started' || kind === 'compaction_committed');
  expect(told.map(({ kind, data }) => ({ kind, reason: data['reason'], willRetry: data['willRetry'] }))).toEqual([
    { kind: 'compaction_started', reason: 'overflow', willRetry: true },
    { kind: 'compaction_committed', reason: 'overflow', willRetry: true },
  ]);
}, 120_000);

test('P3 P25 an overflow is recovered once: compacted, called again at once, and the turn goes on', async () => {
  await harness.fault({ kind: 'overflow', times: 1, skip: 3, match: { purpose: 'agent' } });
  const turn = await harness.runTask(readTask(4), { timeoutMilliseconds: 100_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 1, compactions: 1 });
  const kinds = (await eventsOf(harness, turn.conversationId)).map(({ kind }) => kind);
  const failed = kinds.indexOf('model_call_failed');
  const committed = kinds.indexOf('compaction_committed');
  expect(kinds.indexOf('compaction_started')).toBeGreaterThan(failed);
  expect(committed).toBeGreaterThan(kinds.indexOf('compaction_started'));
  expect(kinds.slice(committed)).toContain('model_call_answered');
}, 120_000);

test('P27 a second overflow ends the compaction without a result and says that recovery failed after one attempt', async () => {
  await harness.fault({ kind: 'overflow', times: 2, skip: 3, match: { purpose: 'agent' } });
  const turn = await harness.runTask(readTask(4), { timeoutMilliseconds: 100_000 });
  expect(turn).toMatchObject({ outcome: 'context_exhausted', reason: 'second_overflow', overflows: 2, compactions: 1 });
  const told = (await eventsOf(harness, turn.conversationId)).filter(({ kind }) => kind === 'compaction_exhausted');
  expect(told.map(({ data }) => data)).toEqual([
    { reason: 'overflow', failure: 'second_overflow', tokens: expect.any(Number) as number },
  ]);
}, 120_000);

test('P2 P31 the check is made once more after the last step, and a compaction right after it finds nothing to do', async () => {
  // Nine files stay below the trigger; the long answer brings the count over it.
  const turn = await harness.runTask(`${readTask(8)}\nWrite 7000 words`, { timeoutMilliseconds: 200_000 });
  const { conversationId } = turn;
  const before = await harness.client.listSummaries({ conversationId });
  const history = await harness.history(conversationId);
  expect(history.split('"compactContext"').length - 1).toBe(turn.steps + 1);
  const asked = await harness.client.requestCompaction({ conversationId });
  await harness.client.waitForOutcome({ ...asked, timeoutMilliseconds: 60_000 });
  const again = await harness.client.requestCompaction({ conversationId });
  await harness.client.waitForOutcome({ ...again, timeoutMilliseconds: 60_000 });
  expect((await harness.client.listSummaries({ conversationId })).length).toBe(before.length + 1);
  const declined = (await eventsOf(harness, conversationId)).filter(({ kind }) => kind === 'compaction_declined');
  expect(declined.map(({ data }) => data['reason'])).toEqual(['nothing_to_compact']);
}, 320_000);
