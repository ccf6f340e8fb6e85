import { afterAll, beforeAll, expect, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { startTestTemporal } from '../support/servers.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { beginsWith } from '../workflows/support/worker-of-activities.ts';
import { keepRuns } from './keep-runs.ts';
import { keepScripted } from './keep-scripted.ts';

/** Temporal's own cancel, when its run has no turn that could obey it: the next run is told. */
let server: Awaited<ReturnType<typeof startTestTemporal>>;

beforeAll(async () => {
  server = await startTestTemporal();
});

afterAll(() => server.stop());

test('a cancel that comes as a turn ends stops the next one', async () => {
  const turns = [beginsWith({}), beginsWith({})];
  const ends: unknown[] = [];
  await keepScripted(server.address, 'cancelled-as-it-ends', ({ cancel }) => ({
    beginTurn: async (input) => turns[ends.length]?.beginTurn(input) ?? { kind: 'nothing_waiting' },
    endTurn: async ({ outcome, cancelled }) => {
      ends.push([outcome, cancelled]);
      if (ends.length === 1) await cancel();
      return { outcome };
    },
    lookAtInbox: async ({ turn }) => ({
      waiting: turn === null && ends.length === 1 ? 1 : 0,
      steering: 0,
      stopRequested: false,
      compactRequested: false,
    }),
  }));
  expect(ends).toEqual([
    ['completed', undefined],
    ['stopped', true],
  ]);
});

test('a cancel before a turn that takes what was sent later', async () => {
  const harness = await startTurnHarness({ temporalAddress: server.address });
  try {
    const sent = await harness.client.startTask({ task: 'Say first' });
    const { conversationId } = sent;
    const workflow = harness.temporal.workflow.getHandle(turnWorkflowId(conversationId));
    const isKnown = () =>
      workflow.describe().then(
        () => true,
        () => false,
      );
    await waitUntil('its workflow is started', isKnown);
    await workflow.cancel();
    const { messageId } = await harness.client.sendMessage({ conversationId, content: 'Say later', mode: 'steer' });
    await harness.database`update messages set created_at = created_at + interval '1 hour' where id = ${messageId}`;
    await harness.startWorker();
    expect(await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 120_000 })).toMatchObject({
      outcome: 'completed',
    });
    await keepRuns('cancelled-before-its-turn', turnWorkflowId(conversationId), harness.temporal);
  } finally {
    await harness.stop();
  }
});
