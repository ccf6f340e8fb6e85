import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CrashPoint } from '../../src/activities/crash-points.ts';
import { createClient } from '../../src/client/create-client.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import type { RunningWorker } from '../../src/worker/start-worker.ts';
import { recordWrites, writesWithoutPoint } from '../support/record-writes.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Writes of upkeep behind which no crash point stands, and why none has to. */
const EXEMPT: Readonly<Record<string, string>> = {
  'ringForWaitingMessages into decisions, events':
    'a standing decision reached a call: nobody rang for it, so it is among what the next look rings for',
  // One statement for both tables, of which the recorder names the first: `messages` is the other.
  'ringForWaitingMessages into decisions': 'how often was rung: the next look rings once more, and rings coalesce',
  'repairLostTurns into turns': 'the order of looks: a turn that was not looked at is looked at a round later',
  'deleteExpired into deployment': 'the task is taken up: what a death leaves undone is due again after ten minutes',
};

/** What the work below comes to: without it, the test would show less than it says. */
const SEEN: readonly CrashPoint[] = [
  'deleteExpired:deleted',
  'deleteExpired:forgotten',
  'indexFallenBehind:indexed',
  'indexFallenBehind:taken-apart',
  'repairLostTurns:interrupted',
  'repairLostTurns:rung',
  'ringForWaitingMessages:rung',
];

const ACTIVITIES = new Set(SEEN.map((point) => point.split(':')[0]));

const recorder = recordWrites();
let harness: TurnHarness;
let worker: RunningWorker;

beforeAll(async () => {
  harness = await startTurnHarness({
    agent: { tools: ['write_file'], approvals: { rules: ['write_file'] } },
    configurationFile: JSON.stringify({ retention: { days: 30 } }),
  });
  worker = await harness.startWorker({ observer: recorder.observer });
});

afterAll(() => harness.stop());

/** A message for which nobody rings; returns its conversation once upkeep did. */
async function findUnrung(): Promise<string> {
  const { databaseUrl, taskQueue } = harness;
  // No server listens there.
  const silent = await createClient({
    databaseUrl,
    taskQueue,
    temporal: { address: '127.0.0.1:1', namespace: 'default' },
  });
  const sent = await silent.startTask({ task: 'Say found' });
  await silent.close();
  await harness.database`update messages set created_at = created_at - interval '1 minute' where id = ${sent.messageId}`;
  await harness.runUpkeep();
  await harness.client.waitForOutcome({ ...sent, timeoutMilliseconds: 100_000 });
  return sent.conversationId;
}

/** Starts a task whose call waits for a person. */
async function startWaiting(): Promise<string> {
  const { conversationId } = await harness.client.startTask({
    task: 'Call write_file with {"path": "a.txt", "content": "a"}',
  });
  await waitUntil('a person is asked', async () => {
    const { waitingCalls } = await harness.client.getConversation(conversationId);
    return waitingCalls.length === 1;
  });
  return conversationId;
}

async function repairLost(): Promise<void> {
  const conversationId = await startWaiting();
  await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).terminate('test');
  await harness.database`
    update turns set begun_at = begun_at - interval '1 minute' where conversation_id = ${conversationId}`;
  await harness.runUpkeep();
  const { turn } = await harness.client.getConversation(conversationId);
  expect(turn?.outcome).toBe('interrupted');
}

/** A person decided for the agent, and died before it reached this call. */
async function decideCovered(): Promise<void> {
  const conversationId = await startWaiting();
  await harness.database`
    insert into standing_decisions (tenant, agent, rule, state, decided_at, turn_id, call_number, call_index)
    select 'default', agent, rule, 'denied', now(), turn_id, call_number, call_index from decisions
    where conversation_id = ${conversationId}`;
  await harness.runUpkeep();
  await waitUntil('the turn goes on', async () => {
    const { turn } = await harness.client.getConversation(conversationId);
    return turn?.outcome === 'completed';
  });
}

/** A memory that was written by hand, which no turn takes apart before upkeep does. */
async function takeMemoryApart(): Promise<void> {
  const { database } = harness;
  await database`
    insert into memories (id, scope, scope_name, kind, text, origin)
    values (gen_random_uuid(), 'agent', 'nobody', 'fact', '"Pump 7 opens at 4 bar."', 'user')`;
  await harness.runUpkeep();
  expect(await database`select from memories where terms is null`).toHaveLength(0);
}

async function deleteExpired(conversationId: string): Promise<void> {
  const { database } = harness;
  await database`update conversations set active_at = active_at - interval '31 days' where id = ${conversationId}`;
  await database`
    insert into memories (id, scope, scope_name, kind, text, origin, expires_at)
    values (gen_random_uuid(), 'agent', 'nobody', 'fact', '"Pump 7 is shut."', 'user', now() - interval '2 days')`;
  await database`update deployment set retention_at = null`;
  await harness.runUpkeep();
  expect(await database`select from conversations where id = ${conversationId}`).toHaveLength(0);
}

test('behind each write of upkeep a crash point was reached, or a reason is named why none has to', async () => {
  const unrung = await findUnrung();
  await takeMemoryApart();
  await repairLost();
  await decideCovered();
  await deleteExpired(unrung);
  worker.shutdown();
  await worker.ended;
  const executions = recorder.executions().filter(({ activity }) => ACTIVITIES.has(activity));
  const seen = new Set(
    executions.flatMap(({ steps }) => steps.flatMap((step) => ('reached' in step ? [step.reached] : []))),
  );
  expect(SEEN.filter((point) => !seen.has(point))).toEqual([]);
  // An exemption that no write needs any more is one too many.
  expect([...new Set(executions.flatMap(writesWithoutPoint))].toSorted()).toEqual(Object.keys(EXEMPT).toSorted());
});
