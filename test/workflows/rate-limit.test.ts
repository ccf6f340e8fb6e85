import { expect, onTestFinished, test } from 'vitest';
import { runCli, startCli } from '../cli/run-cli.ts';
import { runInProcess } from '../cli/run-in-process.ts';
import { useWorkingHarness, startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

const harness = useWorkingHarness();

test("a turn that waits for the provider's rate limit says so in its state, in the list and in the timeline", async () => {
  const { client } = harness;
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 18, times: 1 });
  const sent = await client.start('Say hello');
  await waitUntil(
    'the turn waits',
    async () =>
      (await client.conversation.get({ conversationId: sent.conversationId })).turn?.state === 'waiting_for_rate_limit',
    12_000,
  );
  const options = { environment: harness.environment, directory: harness.workspace };
  expect((await runCli(['list'], options)).stdout).toContain('waiting for rate limit');
  // What a watcher is told while it waits, not only afterwards.
  const watching = startCli(['watch', sent.conversationId], options);
  await waitUntil('the watcher is told', () => watching.stdout().includes('The turn waits'), 20_000);
  expect((await client.conversation.get({ conversationId: sent.conversationId })).turn?.state).toBe(
    'waiting_for_rate_limit',
  );
  // 18 s, spread by a tenth at most, rounded up.
  expect(watching.stdout()).toMatch(
    /The turn waits (?:1[7-9]|2[01]) s for simulator: rate limit, until \d\d:\d\d:\d\d\./u,
  );
  const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ state: 'ended', outcome: 'completed' });
  const watched = await watching.ended;
  expect(watched).toMatchObject({ code: 0, stderr: '' });
  expect(watched.stdout).toMatch(/The turn waits[^]*completed/u);
  expect((await client.conversation.list()).items[0]?.turn?.state).toBe('ended');
});

test('a turn whose call is refused for a few seconds says that it waits, until the call is made again', async () => {
  const { client, database } = harness;
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 9, times: 1 });
  const sent = await client.start('Say hello');
  const state = async () => (await client.conversation.get({ conversationId: sent.conversationId })).turn?.state;
  await waitUntil('the turn waits', async () => (await state()) === 'waiting_for_rate_limit', 8_000);
  const options = { environment: harness.environment, directory: harness.workspace };
  expect((await runInProcess(['list'], options)).stdout).toContain('waiting for rate limit');
  await harness.fault({ kind: 'delay', milliseconds: 6_000, times: 1 });
  const events = async () => {
    const rows = await database<{ kind: string; data: Record<string, unknown> }[]>`
      select kind, data from events where conversation_id = ${sent.conversationId} order by number`;
    return rows.slice(rows.findIndex(({ kind }) => kind === 'model_call_failed'));
  };
  await waitUntil('the call is made again', async () => (await events()).length > 2, 20_000);
  expect(await state()).toBe('running');
  expect(await events()).toMatchObject([
    { kind: 'model_call_failed' },
    { kind: 'turn_waiting', data: { provider: 'simulator', reason: 'rate_limit' } },
    { kind: 'model_call_started' },
  ]);
  expect((await client.conversation.outcome({ ...sent, timeoutMilliseconds: 60_000 })).outcome).toBe('completed');
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
  const turn = await client.conversation.outcome({ ...asked, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'budget_exhausted', reason: 'idle_time_limit' });
});
