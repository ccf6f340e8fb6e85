import { expect, onTestFinished, test } from 'vitest';
import { startCli } from '../cli/run-cli.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { useWorkingHarness, startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const harness = useWorkingHarness();

test("a turn that waits for the provider's rate limit says so in its state, in the list and in the timeline", async () => {
  const { client } = harness;
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 30, times: 1 });
  const sent = await client.start('Say hello');
  await waitUntil(
    'the turn waits',
    async () =>
      (await client.conversation.get({ conversationId: sent.conversationId })).turn?.state === 'waiting_for_rate_limit',
  );
  const options = { environment: harness.environment, directory: harness.workspace };
  expect((await runInProcess(['list'], options)).stdout).toContain('waiting for rate limit');
  // What a watcher is told while it waits, not only afterwards.
  const watching = startCli(['watch', sent.conversationId], options);
  await waitUntil('the watcher is told', () => watching.stdout().includes('The turn waits'));
  expect((await client.conversation.get({ conversationId: sent.conversationId })).turn?.state).toBe(
    'waiting_for_rate_limit',
  );
  // 30 s, spread by a tenth at most, rounded up.
  expect(watching.stdout()).toMatch(
    /The turn waits (?:2[7-9]|3[0-4]) s for simulator: rate limit, until \d\d:\d\d:\d\d\./u,
  );
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ state: 'ended', outcome: 'completed' });
  const watched = await watching.ended;
  expect(watched).toMatchObject({ code: 0, stderr: '' });
  expect(watched.stdout).toMatch(/The turn waits[^]*completed/u);
  expect((await client.conversation.list()).items[0]?.turn?.state).toBe('ended');
  const calls = await harness.database<{ kind: string }[]>`
    select kind from events where conversation_id = ${sent.conversationId}
      and kind in ('model_call_started', 'model_call_failed', 'turn_waiting') order by number`;
  expect(calls.map(({ kind }) => kind)).toEqual([
    'model_call_started',
    'model_call_failed',
    'turn_waiting',
    'model_call_started',
  ]);
});

test('a turn whose summaries do nothing but wait is idle, as one whose model call waits', async () => {
  const limits = { idleTime: 8 };
  const partwise = await startTurnHarness({
    agent: { model: 'simulator/sim-64k', policy: { summary: { model: 'simulator/sim-8k' } }, limits },
  });
  onTestFinished(() => partwise.stop());
  const { client } = partwise;
  const { conversationId } = await client.start('Say ready');
  for (let number = 0; number < 10; number += 1) {
    const content = `Say ${number}. ${`valve ${number} `.repeat(800)}`;
    await client.conversation.send({ conversationId, content, mode: 'steer' });
  }
  const asked = await client.conversation.compact({ conversationId });
  // Refused twice in a row: each wait is shorter than the limit, both together are longer.
  await partwise.fault({ kind: 'rate_limit', retryAfterSeconds: 6, times: 100, match: { purpose: 'summary' } });
  await partwise.startWorker();
  const turn = await client.conversation.outcome({ ...asked, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'idle_time_limit' });
});

test('a pause of days is one of a day, is shown and can be ended: calls are made again, and a turn that waits for it writes no history', async () => {
  const { client } = harness;
  const options = { environment: harness.environment, directory: harness.workspace };
  const models = () => runInProcess(['model', 'list'], options);
  const unpause = () => runInProcess(['model', 'unpause', 'simulator'], options);
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 129_200, times: 1 });
  const refused = await client.start('Say first');
  const { conversationId } = refused;
  await waitUntil(
    'the turn waits',
    async () => (await client.conversation.get({ conversationId })).turn?.state === 'waiting_for_rate_limit',
  );
  const timers = async () => (await harness.history(conversationId)).includes('timerStartedEventAttributes');
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
  expect((await harness.runTask('Say other')).outcome).toBe('completed');
  await client.conversation.stop({ conversationId });
  expect((await client.conversation.outcome({ ...refused, timeoutMilliseconds: 240_000 })).outcome).toBe('stopped');
});
