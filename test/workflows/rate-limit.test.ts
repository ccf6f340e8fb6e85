import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../cli/run-cli.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

let harness: TurnHarness;

beforeAll(async () => {
  harness = await startTurnHarness();
  await harness.startWorker();
});

afterAll(() => harness.stop());

test("a turn that waits for the provider's rate limit says so in its state, in the list and in the timeline", async () => {
  const { client } = harness;
  await harness.fault({ kind: 'rate_limit', retryAfterSeconds: 14, times: 1 });
  const sent = await client.startTask({ task: 'Say hello' });
  await waitUntil(
    'the turn waits',
    async () => (await client.getConversation(sent.conversationId)).turn?.state === 'waiting_for_rate_limit',
    12_000,
  );
  const options = { environment: harness.environment, directory: harness.workspace };
  expect((await runCli(['list'], options)).stdout).toContain('waiting for rate limit');
  const turn = await client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ state: 'ended', outcome: 'completed' });
  const watched = await runCli(['watch', sent.conversationId], options);
  expect(watched.stdout + watched.stderr).toMatch(/waits 1[3-6] s for the provider's rate limit/u);
  expect((await client.listConversations())[0]?.turn?.state).toBe('ended');
});
