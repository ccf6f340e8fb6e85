import { beforeAll, expect, test } from 'vitest';
import { useTurnHarness } from '../../support/turn-harness.ts';
import { eventsOf, readTask, writeLogs } from './scenario.ts';

const log: Record<string, unknown>[] = [];
const FILES = 8;
let conversationId: string;

const harness = useTurnHarness({
  agent: { model: 'simulator/sim-32k', preset: 'wolffish' },
  log: (line) => void log.push(JSON.parse(line) as Record<string, unknown>),
});

beforeAll(async () => {
  await writeLogs(harness, FILES, 120);
  await harness.startWorker();
  const turn = await harness.runTask(readTask(FILES), { timeoutMilliseconds: 100_000 });
  expect(turn).toMatchObject({ outcome: 'completed', overflows: 0 });
  ({ conversationId } = turn);
});

test('W40 each check is one line of the log with both counts and what they are held against; without a pass there is no event', async () => {
  const events = await eventsOf(harness, conversationId);
  const checks = log.filter((line) => line['msg'] === 'context check' && line['conversationId'] === conversationId);
  const calls = events.filter(({ kind }) => kind === 'model_call_started');
  expect(checks.length).toBe(calls.length);
  for (const check of checks) {
    const { estimate, reported, effective, budget, threshold } = check as Record<string, number>;
    expect(effective).toBeGreaterThanOrEqual(Math.max(estimate ?? 0, reported ?? 0) - 1);
    expect(threshold).toBe(Math.round((budget ?? 0) * 0.75));
    expect(check['needsCompaction']).toBe((effective ?? 0) > (threshold ?? 0));
    expect(check).toMatchObject({ force: false, tools: 9 });
    expect(Number(check['messages'])).toBeGreaterThan(0);
    expect(Number(check['systemCharacters'])).toBeGreaterThan(1_000);
  }
  expect(checks[0]).toMatchObject({ reported: null, needsCompaction: false });
  const started = events.filter(({ kind }) => kind === 'compaction_started');
  expect(checks.filter((check) => check['needsCompaction'] === true)).toHaveLength(started.length);
  for (const { data } of calls) {
    expect(Number(data['estimatedTokens'])).toBeGreaterThan(0);
    expect(Number(data['inputBudget'])).toBe(checks[0]?.['budget']);
  }
});

test('W31 calls of one answer run one after another, and a check comes before each call only', async () => {
  const turn = await harness.runTask('Call list_files with {"path": "."} 3 times');
  const times = await harness.database<{ claimedAt: Date; finishedAt: Date }[]>`
    select claimed_at, finished_at from tool_calls where conversation_id = ${turn.conversationId} order by call_index`;
  const order = times.flatMap(({ claimedAt: claimed, finishedAt: finished }) => [
    claimed.getTime(),
    finished.getTime(),
  ]);
  expect(order).toHaveLength(6);
  expect(order).toEqual(order.toSorted((one, other) => one - other));
});
