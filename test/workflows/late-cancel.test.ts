import { expect, onTestFinished, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { said } from '../store/support/store-builders.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createHeldCalls } from './support/held-calls.ts';

/** Temporal's own cancel that is obeyed long after it came, because no worker was alive. */
const { tool: hold, start } = createHeldCalls();

const harness = useTurnHarness({ tools: [hold], agent: { tools: ['hold'] } });

const handle = (conversationId: string) => harness.temporal.workflow.getHandle(turnWorkflowId(conversationId));

/** A worker that ends with the test: the next one begins without. */
async function startWorker(): Promise<void> {
  const worker = await harness.startWorker();
  onTestFinished(async () => {
    worker.shutdown();
    await worker.ended;
  });
}

/** A task whose workflow was cancelled while no worker was alive. */
async function cancelledBeforeItsTurn() {
  const sent = await harness.client.start('Say first');
  const isKnown = () =>
    handle(sent.conversationId)
      .describe()
      .then(
        () => true,
        () => false,
      );
  await waitUntil('its workflow is started', isKnown);
  await handle(sent.conversationId).cancel();
  return sent;
}

test("what was sent before Temporal's own cancel, while no worker is alive, is stopped with its turn when one runs", async () => {
  const { client, database } = harness;
  const first = await harness.startWorker();
  const sent = await start(harness, 'held');
  const { conversationId } = sent;
  first.shutdown();
  await first.ended;
  const before = await client.conversation.send({ conversationId, content: 'Say before', mode: 'steer' });
  await handle(conversationId).cancel();
  await startWorker();
  for (const message of [sent, before])
    expect(await client.conversation.outcome({ ...message, timeoutMilliseconds: 120_000 })).toMatchObject({
      outcome: 'stopped',
    });
  expect((await said(database, conversationId)).at(-1)).toBe('user Say before');
  await expectAllHolds(harness);
});

test("what was sent before Temporal's own cancel of a turn that had not begun is not answered until the user says something else", async () => {
  const { client, database } = harness;
  const sent = await cancelledBeforeItsTurn();
  const { conversationId } = sent;
  await startWorker();
  expect(await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'stopped',
  });
  await harness.runTask('Say on', { conversationId });
  expect(await said(database, conversationId)).toEqual(['user Say first', 'user Say on', 'assistant on']);
  await expectAllHolds(harness);
});
