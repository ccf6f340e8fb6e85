import { z } from 'zod';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { openMovedClock } from '../store/support/moved-clock.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ringForWaitingMessages } from '../../src/worker/upkeep.ts';
import { upkeepDependencies } from '../worker/support/upkeep-dependencies.ts';

let harness: TurnHarness;

const release = defineTool({
  name: 'release',
  description: 'Publishes a version.',
  input: z.object({ version: z.string() }),
  effect: 'once',
  approval: () => true,
  run: ({ version }) => Promise.resolve({ content: `released ${version}` }),
});

beforeAll(async () => {
  harness = await startTurnHarness({ tools: [release], agent: { tools: ['release'] } });
  await harness.startWorker();
});

afterAll(() => harness.stop());

async function signals(conversationId: string): Promise<number> {
  const { events } = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
}

test('a message that is kept while a turn waits a day for an approval is rung for a few times only, and enters once it is decided', async () => {
  const { client } = harness;
  const sent = await client.start('Call release with {"version": "1.2.0"}');
  const { conversationId } = sent;
  await waitUntil(
    'the call waits',
    async () => (await client.conversation.get({ conversationId })).waitingCalls.length === 1,
  );
  await client.conversation.send({ conversationId, content: 'Say kept', mode: 'steer' });
  const clock = openMovedClock(harness.databaseUrl);
  let rings = 0;
  const dependencies = upkeepDependencies(clock.sql, {
    taskQueue: harness.taskQueue,
    ringDoorbell: async (id: string) => {
      await ringDoorbell(harness.temporal, harness.taskQueue, id);
      rings += 1;
    },
  });
  for (let minute = 1; minute < 24 * 60; minute += 1) {
    await clock.set(minute * 60);
    await ringForWaitingMessages(dependencies);
  }
  await clock.close();
  // Of 1,439 looks: seven within the first hour or so, then one an hour.
  expect(rings).toBeGreaterThan(20);
  expect(rings).toBeLessThan(32);
  expect(await signals(conversationId)).toBeLessThanOrEqual(rings + 2);
  await client.decisions.approve({ conversationId });
  expect(await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'completed',
  });
  const { items: entries } = await client.log.entries({ conversationId });
  expect(entries.map((entry) => `${entry.kind}: ${textOf(entry.content)}`)).toContain('user: Say kept');
});
