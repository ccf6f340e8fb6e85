import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { endSessions } from '../support/end-sessions.ts';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';

let harness: TurnHarness;

beforeAll(async () => {
  const agent = { allowCommands: true, tools: ['run_command'] };
  harness = await startTurnHarness({ agent });
  await writeFile(join(harness.workspace, 'holdfast.yaml'), JSON.stringify({ agents: { default: agent } }));
});

afterAll(() => harness.stop());

/** A worker that has nothing to do. */
async function startIdleWorker(): Promise<void> {
  const worker = await harness.startWorker();
  onTestFinished(async () => {
    worker.shutdown();
    await worker.ended;
  });
}

/** Starts a command on a worker of its own. */
async function startCommand(command: string) {
  const worker = await startWorkerProcess(harness);
  onTestFinished(() => worker.kill('SIGKILL'));
  const sent = await harness.client.start(`Call run_command with ${JSON.stringify({ command })}`);
  const { conversationId } = sent;
  const claimed = async () =>
    (await harness.database`select from tool_calls where conversation_id = ${conversationId} and state = 'claimed'`)
      .length === 1;
  await waitUntil('the command runs', claimed);
  await waitUntil('the worker tells of it', async () => (await sessionsOf(worker, conversationId)).length === 1);
  return { worker, sent };
}

async function sessionsOf({ processId }: WorkerProcess, conversationId: string) {
  return harness.database`
    select from workers where id like ${`${processId}@%`} and ${conversationId} = any(conversations)`;
}

/** Attempts of an activity, and why the one before the last ended. */
async function attemptsOf(name: string, conversationId: string) {
  const { events } = await harness.temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
  const all = events ?? [];
  const scheduled = all.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name);
  const started = all.find((event) =>
    event.activityTaskStartedEventAttributes?.scheduledEventId?.equals(scheduled?.eventId ?? 0),
  )?.activityTaskStartedEventAttributes;
  return { attempts: started?.attempt, failure: started?.lastFailure?.applicationFailureInfo?.type };
}

test('a worker that is killed is missed by its session, and another one goes on with its call', async () => {
  const { worker, sent } = await startCommand('sleep 300');
  await startIdleWorker();
  worker.kill('SIGKILL');
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'completed' });
  expect(await attemptsOf('runTool', sent.conversationId)).toEqual({ attempts: 2, failure: 'WorkerLost' });
  expect(await sessionsOf(worker, sent.conversationId)).toEqual([]);
});

test('a worker that dies in the first thing that it does is missed too', async () => {
  const doomed = await startWorkerProcess(harness, { HOLDFAST_CRASH_POINTS: 'beginTurn:written' });
  const sent = await harness.client.start('Say hello');
  await doomed.exited;
  await startIdleWorker();
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'completed' });
  expect(await attemptsOf('beginTurn', sent.conversationId)).toEqual({ attempts: 2, failure: 'WorkerLost' });
});

test('a worker that loses its session keeps its calls and takes the session again', async () => {
  const { worker, sent } = await startCommand('until [ -e go-on ]; do sleep 0.05; done');
  await startIdleWorker();
  for (let losses = 0; losses < 3; losses += 1) {
    await endSessions(harness.database, worker.processId);
    await waitUntil('the session is held again', async () => {
      const held = await harness.database`
        select from workers w join pg_locks l on l.locktype = 'advisory' and l.granted
          and l.classid::bigint << 32 | l.objid::bigint = hashtextextended('worker ' || w.id, 0)
        where w.id like ${`${worker.processId}@%`}`;
      return held.length === 1;
    });
  }
  await writeFile(join(harness.workspace, 'go-on'), '');
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 120_000 });
  expect(turn).toMatchObject({ outcome: 'completed' });
  expect(await attemptsOf('runTool', sent.conversationId)).toMatchObject({ attempts: 1 });
});
