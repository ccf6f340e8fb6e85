import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { useTurnHarness } from '../support/turn-harness.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { WorkerProcess } from '../support/worker-process.ts';

const TURNS = 5;
const STEPS = 6;

const harness = useTurnHarness();

/** A worker process that the test ends, also when it fails. */
async function startProcess(): Promise<WorkerProcess> {
  const started = await startWorkerProcess(harness);
  onTestFinished(async () => {
    started.kill('SIGKILL');
    await started.exited;
  });
  return started;
}

test('a rolling redeploy of worker processes with 5 turns open runs no tool again and buys no answer twice', async () => {
  const { client, database, workspace } = harness;
  const agent = { model: 'simulator/sim-32k', allowCommands: true, tools: ['run_command'] };
  await writeFile(join(workspace, 'holdfast.yaml'), JSON.stringify({ agents: { default: agent } }));
  const first = await startProcess();
  // Turns stay open until two more workers have started: what stands behind their second command waits, and behind their fourth.
  const goToTheEnd = await harness.hold({ containing: '/4 >> acts.txt' });
  const goOn = await harness.hold({ containing: '/2 >> acts.txt' });
  const turns = await Promise.all(
    Array.from({ length: TURNS }, (_, turn) =>
      client.start(`Call run_command with {"command": "echo ${turn}/$index >> acts.txt"} ${STEPS} times, one by one`),
    ),
  );
  const openTurns = async (): Promise<number> => (await database`select from turns where outcome is null`).length;
  const acted = async (commands: number): Promise<boolean> => {
    const [row] = await database<{ count: number }[]>`
      select count(*)::int as count from model_attempts where call_number = ${commands + 1}`;
    return row?.count === TURNS;
  };
  await waitUntil('all turns have run two commands', () => acted(2));
  const workers = async (): Promise<number> =>
    (await database`select distinct worker_identity from tool_calls where worker_identity is not null`).length;
  const second = await startProcess();
  expect(await openTurns()).toBe(TURNS);
  first.kill('SIGTERM');
  await goOn();
  // None is only started and stopped.
  await waitUntil('the second has worked', async () => (await workers()) === 2);
  await startProcess();
  expect(await openTurns()).toBe(TURNS);
  second.kill('SIGTERM');
  await goToTheEnd();
  await waitUntil('the third has worked', async () => (await workers()) === 3);
  expect([await first.exited, await second.exited]).toMatchObject([{ code: 0 }, { code: 0 }]);
  for (const turn of turns)
    expect(await client.conversation.outcome({ ...turn, timeoutMilliseconds: 240_000 })).toMatchObject({
      outcome: 'completed',
      steps: STEPS + 1,
    });
  // What the commands did, whatever the rows say.
  const acts = (await readFile(join(workspace, 'acts.txt'), 'utf8')).trimEnd().split('\n');
  expect(acts).toHaveLength(TURNS * STEPS);
  expect(new Set(acts).size).toBe(TURNS * STEPS);
  // What the provider was asked, and what is counted.
  const calls = await database<{ attempt: number; state: string }[]>`select attempt, state from model_attempts`;
  expect((await harness.asked()).total).toBe(TURNS * (STEPS + 1));
  expect(calls).toHaveLength(TURNS * (STEPS + 1));
  const again = await database`
    select attempt from tool_calls where attempt <> 1 or outcome <> 'succeeded'
    union all select attempt from model_attempts where attempt <> 1 or state <> 'answered'`;
  expect(again).toEqual([]);
});
