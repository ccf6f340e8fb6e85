import { afterEach, beforeAll, expect, test } from 'vitest';
import { useTurnHarness } from '../support/turn-harness.ts';
import { writeLogs } from './presets/scenario.ts';

const harness = useTurnHarness({
  agent: { fallbacks: ['simulator/sim-16k', 'simulator-chat/sim-64k'], request: { thinkingBudget: 1_024 } },
});

beforeAll(async () => {
  await writeLogs(harness, 6, 226);
  await harness.startWorker();
});

afterEach(() => harness.clearFaults());

test('R26 a refusal for good hands the turn to the fallback, compacted to its window before the first call, and the turn says so', async () => {
  const { client, database } = harness;
  const refused = { error: { type: 'not_found_error', message: 'model: sim-32k was retired' } };
  await harness.fault({
    kind: 'status',
    status: 404,
    body: refused,
    skip: 6,
    times: null,
    match: { model: 'sim-32k' },
  });
  const turn = await harness.runTask('Call read_file with {"path": "log-$index.txt"} 6 times, one by one');
  const { conversationId } = turn;
  expect(turn).toMatchObject({
    outcome: 'completed',
    model: 'simulator/sim-16k',
    givenUp: [{ model: 'simulator/sim-32k', callNumber: 7 }],
    overflows: 0,
  });
  expect(turn.compactions).toBeGreaterThanOrEqual(1);
  const calls = await database<{ model: string; call: number; state: string; estimate: number }[]>`
    select model, call_number as call, state, estimated_tokens as estimate from model_attempts
    where purpose = 'step' and conversation_id = ${conversationId} order by call_number, attempt`;
  const refusedCall = calls.find(({ state }) => state === 'failed');
  const next = calls.find(({ model }) => model === 'simulator/sim-16k');
  expect(refusedCall?.call).toBe(7);
  expect(next?.call).toBe(8);
  // What was refused did not fit the fallback; what it was asked first is at its target.
  expect(refusedCall?.estimate).toBeGreaterThan(12_000);
  expect(next?.estimate).toBeLessThan(8_192);
  const events = await database`
    select data from events where conversation_id = ${conversationId} and kind = 'model_fallback'`;
  expect(events.map(({ data }) => data)).toEqual([
    { callNumber: 7, from: 'simulator/sim-32k', to: 'simulator/sim-16k', reason: turn.givenUp[0]?.reason },
  ]);
  const { items: costs } = await client.models.costs({ by: 'model', conversationId });
  expect(costs.map(({ name }) => name).sort()).toEqual(['simulator/sim-16k', 'simulator/sim-32k']);
  const history = JSON.parse(await harness.history(conversationId)) as { events: unknown[] };
  expect(JSON.stringify(history.events.slice(-30))).not.toContain('was retired');
  await harness.clearFaults();
  const again = await harness.runTask('Say it goes on', { conversationId });
  expect(again).toMatchObject({ outcome: 'completed', model: 'simulator/sim-32k', givenUp: [] });
});

test('R26 the fallback has an overflow recovery of its own', async () => {
  await harness.fault({ kind: 'overflow', skip: 4, times: 1, match: { model: 'sim-32k' } });
  await harness.fault({ kind: 'overflow', times: 1, match: { model: 'sim-16k' } });
  await harness.fault({ kind: 'status', status: 404, skip: 6, times: null, match: { model: 'sim-32k' } });
  const turn = await harness.runTask('Call read_file with {"path": "log-$index.txt"} 6 times, one by one');
  expect(turn).toMatchObject({ outcome: 'completed', model: 'simulator/sim-16k', overflows: 2 });
});
