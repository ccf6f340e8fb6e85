import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { runInProcess } from '../cli/run-in-process.ts';
import { useTurnHarness, startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const harness = useTurnHarness({
  providerLimits: { concurrentCalls: 1 },
  agent: { model: 'simulator/sim-64k', policy: { summary: { model: 'simulator/sim-8k' } } },
});

beforeAll(async () => {
  await Promise.all([harness.startWorker(), harness.startWorker()]);
});

test(
  'a pause that one turn was told holds back the others, on every worker, and they say that they wait',
  { timeout: 120_000 },
  async () => {
    const { client } = harness;
    await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 18, times: 1 });
    const first = await client.start('Say first');
    await waitUntil(
      'the pause is known',
      async () => (await harness.database`select from provider_pauses`).length === 1,
    );
    const others = await Promise.all([1, 2, 3].map(() => client.start('Say other')));
    for (const { conversationId } of others) {
      await waitUntil(
        'the turn waits',
        async () => (await client.conversation.get({ conversationId })).turn?.state === 'waiting_for_rate_limit',
        24_000,
      );
    }
    expect((await harness.asked()).total).toBe(1);
    for (const sent of [first, ...others]) {
      expect((await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).outcome).toBe('completed');
    }
    // A permit is free once the answer has come, before it is stored.
    const overlapping = await harness.database`
    select from model_attempts a join model_attempts b on a.started_at < b.started_at
      and b.started_at < a.started_at + a.duration_milliseconds * interval '1 ms'
    where a.state = 'answered' and b.state = 'answered'`;
    expect(overlapping).toHaveLength(0);
  },
);

test('while many calls of one conversation wait on every worker, the call of another waits for two of them at most', async () => {
  const { client, database } = harness;
  await harness.clearFaults();
  await database`delete from provider_pauses`;
  await database`delete from provider_calls`;
  const greedy = await client.start('Say ready');
  const { conversationId } = greedy;
  await harness.fault({ kind: 'delay', milliseconds: 400, times: null });
  for (let number = 0; number < 14; number += 1) {
    const content = `Say ${number}. ${`valve ${number} `.repeat(800)}`;
    await client.conversation.send({ conversationId, content, mode: 'steer' });
  }
  const asked = await client.conversation.compact({ conversationId });
  const waiting = async (): Promise<number> =>
    (await database`select from provider_calls where conversation_id = ${conversationId} and granted_at is null`)
      .length;
  await waitUntil('its summaries wait for places', async () => (await waiting()) >= 4, 20_000);
  const other = await client.start('Say hello');
  expect((await client.conversation.outcome({ ...other, timeoutMilliseconds: 120_000 })).outcome).toBe('completed');
  // What was handed out while the other one waited; at least one still waits, or it proved nothing.
  const [row] = await database<{ passed: number; behind: number }[]>`
    select count(*) filter (where g.granted_at > o.requested_at and g.granted_at <= o.granted_at)::int as passed,
      count(*) filter (where coalesce(g.granted_at > o.granted_at, true) and g.requested_at < o.requested_at)::int as behind
    from provider_calls o, provider_calls g
    where o.conversation_id = ${other.conversationId} and g.conversation_id = ${conversationId}`;
  expect(row?.passed).toBeLessThanOrEqual(2);
  expect(row?.behind).toBeGreaterThan(0);
  await harness.clearFaults();
  for (const sent of [greedy, asked]) {
    await client.conversation.outcome({ conversationId, messageId: sent.messageId, timeoutMilliseconds: 120_000 });
  }
}, 400_000);

test('a pause holds also for a provider without limits, on a worker that was not told it', async () => {
  const unlimited = await startTurnHarness();
  onTestFinished(() => unlimited.stop());
  const { client, database } = unlimited;
  const first = await unlimited.startWorker();
  await unlimited.fault({ kind: 'rate_limit', retryAfterSeconds: 12, times: 1 });
  const refused = await client.start('Say first');
  await waitUntil('the pause is known', async () => (await database`select from provider_pauses`).length === 1);
  // The one that was told is gone: what is left knows of the pause from the row, asked for again since a machine may be slow.
  first.shutdown();
  await first.ended;
  await unlimited.startWorker();
  const other = await client.start('Say other');
  await database`update provider_pauses set paused_until = holdfast_now() + interval '10 seconds'`;
  const [pause] = await database<{ until: Date }[]>`select paused_until as until from provider_pauses`;
  for (const sent of [refused, other])
    expect((await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).outcome).toBe('completed');
  const [begun] = await database<{ at: Date }[]>`
    select started_at as at from model_attempts where conversation_id = ${other.conversationId} order by started_at`;
  expect(begun?.at.getTime()).toBeGreaterThanOrEqual((pause?.until.getTime() ?? Infinity) - 20);
  expect(await database`select from provider_calls`).toHaveLength(0);
}, 240_000);

test('a pause of days is one of a day, is shown and can be ended: calls are made again, and a turn that waits for it writes no history', async () => {
  const paused = await startTurnHarness();
  onTestFinished(() => paused.stop());
  const { client } = paused;
  const options = { environment: paused.environment, directory: paused.workspace };
  const models = () => runInProcess(['model', 'list'], options);
  const unpause = () => runInProcess(['model', 'unpause', 'simulator'], options);
  await paused.startWorker();
  await paused.fault({ kind: 'rate_limit', retryAfterSeconds: 129_200, times: 1 });
  const refused = await client.start('Say first');
  const { conversationId } = refused;
  await waitUntil(
    'the turn waits',
    async () => (await client.conversation.get({ conversationId })).turn?.state === 'waiting_for_rate_limit',
    24_000,
  );
  const timers = async () => (await paused.history(conversationId)).includes('timerStartedEventAttributes');
  expect(await timers()).toBe(false);
  const [pause] = await client.models.listPauses();
  const length = Date.parse(pause?.until ?? '') - Date.parse(pause?.since ?? '');
  expect(length / 3_600_000).toBeCloseTo(24, 1);
  const { stdout } = await models();
  expect(stdout).toMatch(/^simulator is not called until \S+: it answered with a rate limit at \S+\./mu);
  expect(stdout).toContain('npx holdfast model unpause simulator');
  expect((await unpause()).stdout).toBe('simulator is called again.\n');
  expect((await unpause()).stdout).toBe('simulator was not paused. No provider is.\n');
  expect((await models()).stdout).not.toContain('is not called until');
  expect((await paused.runTask('Say other')).outcome).toBe('completed');
  await client.conversation.stop({ conversationId });
  expect((await client.conversation.outcome({ ...refused, timeoutMilliseconds: 60_000 })).outcome).toBe('stopped');
}, 120_000);
