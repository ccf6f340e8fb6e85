import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { said } from '../store/support/store-builders.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createHeldCalls } from './support/held-calls.ts';

/** Temporal's own cancel that is obeyed long after it came, because no worker was alive. */
let harness: TurnHarness;
const { tool: hold, held, start } = createHeldCalls();

beforeAll(async () => {
  harness = await startTurnHarness({ tools: [hold], agent: { tools: ['hold'] } });
});

afterAll(() => harness.stop());

const handle = (conversationId: string) => harness.temporal.workflow.getHandle(turnWorkflowId(conversationId));

/** A steering message, as if it were sent an hour after all that came so far. */
async function steerLater(conversationId: string, content: string) {
  const sent = await harness.client.conversation.send({ conversationId, content, mode: 'steer' });
  await harness.database`
    update messages set created_at = created_at + interval '1 hour' where id = ${sent.messageId}`;
  return { ...sent, timeoutMilliseconds: 120_000 };
}

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

test("a message that is sent long after Temporal's own cancel, while no worker is alive, is answered when one obeys it; one before the cancel is not", async () => {
  const { client, database } = harness;
  const first = await harness.startWorker();
  const sent = await start(harness, 'held');
  const { conversationId } = sent;
  first.shutdown();
  await first.ended;
  await client.conversation.send({ conversationId, content: 'Say before', mode: 'steer' });
  await handle(conversationId).cancel();
  const later = await steerLater(conversationId, 'Say later');
  await startWorker();
  const answered = await client.conversation.outcome(later);
  const stopped = await client.conversation.outcome({ ...sent, timeoutMilliseconds: 1_000 });
  expect([stopped.outcome, answered.outcome]).toEqual(['stopped', 'completed']);
  expect((await said(database, conversationId)).slice(-3)).toEqual([
    'user Say before',
    'user Say later',
    'assistant later',
  ]);
  await expectAllHolds(harness);
});

test.each([
  ['alone, is not answered', null, ['user Say first'], 'stopped'],
  [
    'is answered with what was sent long after it',
    'Say later',
    ['user Say first', 'user Say later', 'assistant later'],
    'completed',
  ],
] as const)(
  "what was sent before Temporal's own cancel of a turn that had not begun, %s",
  async (_what, later, expected, outcome) => {
    const { client, database } = harness;
    const sent = await cancelledBeforeItsTurn();
    const { conversationId } = sent;
    if (later !== null) await steerLater(conversationId, later);
    await startWorker();
    expect(await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).toMatchObject({ outcome });
    expect(await said(database, conversationId)).toEqual(expected);
    await expectAllHolds(harness);
  },
);

test("a turn that goes on after Temporal's own cancel can be cancelled again", async () => {
  const { client } = harness;
  const sent = await cancelledBeforeItsTurn();
  const { conversationId } = sent;
  await steerLater(conversationId, 'Call hold with {"name": "again"}');
  await startWorker();
  await waitUntil('the tool runs', () => held.has('again'));
  await handle(conversationId).cancel();
  expect(await client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 })).toMatchObject({
    outcome: 'stopped',
  });
});
