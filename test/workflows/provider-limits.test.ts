import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness({ providerLimits: { concurrentCalls: 1 } });
  await Promise.all([harness.startWorker(), harness.startWorker()]);
});

afterAll(() => harness.stop());

test('a pause that one turn was told holds back the others, on every worker, and they say that they wait', async () => {
  const { client } = harness;
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 12, times: 1 });
  const first = await client.startTask({ task: 'Say first' });
  await waitUntil('the pause is known', async () => (await harness.database`select from provider_pauses`).length === 1);
  const others = await Promise.all([1, 2, 3].map(() => client.startTask({ task: 'Say other' })));
  for (const { conversationId } of others) {
    await waitUntil(
      'the turn waits',
      async () => (await client.getConversation(conversationId)).turn?.state === 'waiting_for_rate_limit',
      14_000,
    );
  }
  expect((await harness.requests()).total).toBe(1);
  for (const sent of [first, ...others]) {
    expect((await client.waitForOutcome({ ...sent, timeoutMilliseconds: 50_000 })).outcome).toBe('completed');
  }
  const overlapping = await harness.database`
    select from model_calls a join model_calls b on a.started_at < b.started_at and b.started_at < a.ended_at
    where a.state = 'answered' and b.state = 'answered'`;
  expect(overlapping).toHaveLength(0);
});
