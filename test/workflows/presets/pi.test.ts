import { afterEach, beforeAll, expect, test } from 'vitest';
import { expectAllHolds } from '../../support/expect-all-holds.ts';
import { startDyingWorkers } from '../../support/worker-deaths.ts';
import { useTurnHarness } from '../../support/turn-harness.ts';
import {
  expectDeathsInEach,
  eventsOf,
  expectWholeLog,
  MODEL,
  partsOf,
  readTask,
  requestBodies,
  writeLogs,
} from './scenario.ts';

/** The conversation of the first test. */
let split: string;

const harness = useTurnHarness({ agent: { model: MODEL, preset: 'pi' } });

beforeAll(async () => {
  await writeLogs(harness, 11);
});

afterEach(() => harness.clearFaults());

/** Requests of the agent before the one that overflows: a pass over the threshold lies behind them. */
const BEFORE_OVERFLOW = 13;

test('P15 P16 P21 at 200,000 tokens a long turn is split: two summaries at once, one text with the files, also when a worker dies in every activity', async () => {
  // The first one is lost with its worker.
  await harness.fault({ kind: 'overflow', times: 2, skip: BEFORE_OVERFLOW, match: { purpose: 'agent' } });
  const { conversationId } = await harness.client.start(readTask(2), { preset: 'pi', model: MODEL });
  const sent = await harness.client.conversation.send({ conversationId, content: readTask(11), mode: 'queue' });
  const deaths = await startDyingWorkers(harness);
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 2 });
  expectDeathsInEach(deaths);
  await expectAllHolds(harness);
  const [compaction] = await harness.client.log.summaries({ conversationId });
  expect(compaction).toMatchObject({ trigger: 'threshold' });
  const parts = (await partsOf(harness, conversationId)).filter(
    (part) => part.compactionId === compaction?.compactionId,
  );
  expect(parts.map(({ kind, wave, state }) => ({ kind, wave, state }))).toEqual([
    { kind: 'history', wave: 1, state: 'written' },
    { kind: 'turn_prefix', wave: 1, state: 'written' },
  ]);
  expect(compaction?.text).toContain('\n\n---\n\n**Turn Context (split turn):**\n\n## Original Request');
  expect(compaction?.text).toMatch(/<read-files>\nlog-1\.txt\n[\s\S]*<\/read-files>$/);
  // The next request shows the text.
  const bodies = await requestBodies(harness, 'agent');
  expect(bodies.filter((body) => body.includes('Turn Context (split turn)')).length).toBeGreaterThan(0);
  await expectWholeLog(harness, conversationId, 13);
  split = conversationId;
});

test('P26 start and end are told with their reason, and whether the call is made again', async () => {
  const told = (await eventsOf(harness, split)).filter(
    ({ kind }) => kind === 'compaction_started' || kind === 'compaction_committed',
  );
  expect(told.map(({ kind, data }) => ({ kind, reason: data['reason'], willRetry: data['willRetry'] }))).toEqual([
    { kind: 'compaction_started', reason: 'threshold', willRetry: false },
    { kind: 'compaction_committed', reason: 'threshold', willRetry: false },
    { kind: 'compaction_started', reason: 'overflow', willRetry: true },
    { kind: 'compaction_committed', reason: 'overflow', willRetry: true },
  ]);
});
