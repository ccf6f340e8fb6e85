import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { turnWorkflowId } from '../../src/temporal/names.ts';
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

test(
  'summaries side by side that wait: the turn waits until the last of them has waited',
  { timeout: 180_000 },
  async () => {
    const partwise = await startTurnHarness({
      agent: { model: 'simulator/sim-64k', policy: { summary: { model: 'simulator/sim-8k' } } },
    });
    onTestFinished(() => partwise.stop());
    const { client } = partwise;
    const { conversationId } = await client.startTask({ task: 'Say ready' });
    for (let number = 0; number < 10; number += 1) {
      const content = `Say ${number}. ${`valve ${number} `.repeat(800)}`;
      await client.sendMessage({ conversationId, content, mode: 'steer' });
    }
    const asked = await client.requestCompaction({ conversationId });
    await partwise.fault({ kind: 'rate_limit', retryAfterSeconds: 11, times: 2, match: { purpose: 'summary' } });
    await partwise.startWorker();
    await client.waitForOutcome({ ...asked, timeoutMilliseconds: 120_000 });
    const { events } = await partwise.temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
    const told = (events ?? []).flatMap((event) => {
      const state =
        event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields?.['HoldfastTurnState'];
      if (state?.data != null) return [String(JSON.parse(Buffer.from(state.data).toString()))];
      return event.timerFiredEventAttributes == null ? [] : ['waited'];
    });
    expect(told.filter((each) => each === 'waited').length).toBeGreaterThanOrEqual(2);
    expect(told.filter((each) => each === 'running')).toHaveLength(2);
    expect(told.lastIndexOf('waited')).toBeLessThan(told.lastIndexOf('running'));
    expect(told.indexOf('waited')).toBeGreaterThan(told.indexOf('waiting_for_rate_limit'));
  },
);
