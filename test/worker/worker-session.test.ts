import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { textOf } from '../../src/context/log/content.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import { endSessions } from '../support/end-sessions.ts';
import { expectAllHolds } from '../support/expect-all-holds.ts';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';

const agent = { allowCommands: true, tools: ['run_command'] };
const harness = useTurnHarness({ agent });

beforeAll(async () => {
  await writeFile(join(harness.workspace, 'holdfast.yaml'), JSON.stringify({ agents: { default: agent } }));
});

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

test('when a worker is killed with a workflow task and a running tool, others see it by its session lock, and one takes its work', async () => {
  const { worker, sent } = await startCommand('sleep 300');
  await startIdleWorker();
  // Frozen, it takes a task and does not answer: a kill would have to come within a few milliseconds.
  worker.kill('SIGSTOP');
  const handle = harness.temporal.workflow.getHandle(turnWorkflowId(sent.conversationId));
  // Any signal makes a workflow task; a message to an open turn makes none.
  await handle.signal('unheard');
  await waitUntil('a workflow task is with the worker', async () => {
    const { events } = await handle.fetchHistory();
    return events?.at(-1)?.workflowTaskStartedEventAttributes != null;
  });
  worker.kill('SIGKILL');
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'completed' });
  expect(await attemptsOf('runTool', sent.conversationId)).toEqual({ attempts: 2, failure: 'WorkerLost' });
  expect(await sessionsOf(worker, sent.conversationId)).toEqual([]);
});

test('a worker that dies in the first thing that it does is missed too', async () => {
  const doomed = await startWorkerProcess(harness, { HOLDFAST_CRASH_POINTS: 'beginTurn:write' });
  const sent = await harness.client.start('Say hello');
  await doomed.exited;
  await startIdleWorker();
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
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
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn).toMatchObject({ outcome: 'completed' });
  expect(await attemptsOf('runTool', sent.conversationId)).toMatchObject({ attempts: 1 });
});

/** Writes, leaves a daemon that no process group reaches, and kills its worker once that is named. */
const COMMAND = [
  `setsid sh -c 'trap "" TERM HUP; echo $$ > daemon.pid; sleep 300' </dev/null >/dev/null 2>&1 & until [ -s daemon.pid ]; do sleep 0.1; done`,
  'echo ran >> journal.txt; echo half done',
  `until [ -s worker.pid ]; do sleep 0.1; done; kill -9 $(cat worker.pid); sleep 300`,
].join('; ');

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

test('a command that kills its worker after it acted is not run again: the model is told what is known, and no process of it is left', async () => {
  const { worker: doomed, sent } = await startCommand(COMMAND);
  await waitUntil('its output is noted', async () => {
    const rows = await harness.database`
        select from tool_calls where conversation_id = ${sent.conversationId} and partial_output is not null`;
    return rows.length === 1;
  });
  const daemon = Number(await readFile(join(harness.workspace, 'daemon.pid'), 'utf8'));
  await writeFile(join(harness.workspace, 'worker.pid'), String(doomed.processId));
  expect(await doomed.exited).toMatchObject({ signal: 'SIGKILL' });
  // Without another worker.
  await waitUntil('its daemon is ended', async () => !isAlive(daemon));
  await startIdleWorker();
  const turn = await harness.client.conversation.outcome({ ...sent, timeoutMilliseconds: 240_000 });
  expect(turn.outcome).toBe('completed');
  expect(await readFile(join(harness.workspace, 'journal.txt'), 'utf8')).toBe('ran\n');
  const { items: entries } = await harness.client.log.entries({ conversationId: sent.conversationId });
  const results = entries.filter((entry) => entry.kind === 'tool_result').map((entry) => textOf(entry.content));
  expect(results).toEqual([
    expect.stringMatching(
      /^Outcome unknown: this call began at .* Check before you repeat it\.\n\nUntil .* it had written 10 bytes:\nhalf done\n$/u,
    ),
  ]);
  await expectAllHolds(harness);
});
