import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { signalProcess } from '../../src/local/process-signals.ts';
import { readStack, resolveConnections } from '../../src/local/stack-file.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import type { Simulator } from '../../packages/simulator/src/index.ts';
import { DevProcess, makeProject, PROGRAM, projectEnvironment, removeProject } from '../support/dev-process.ts';
import { processesOfRun } from '../support/leaked-processes.ts';
import { steerSimulator } from '../support/simulator-controls.ts';
import { waitUntil } from '../support/wait-until.ts';

let project: string;
let simulator: Simulator;
let environment: NodeJS.ProcessEnv;
beforeEach(async () => {
  project = await makeProject();
  simulator = await startSimulator();
  environment = { ...projectEnvironment(project), HOLDFAST_SIMULATOR_URL: simulator.url };
});
afterEach(async () => {
  await removeProject(project);
  await simulator.close();
});

async function holdfast(...commandArguments: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [PROGRAM, ...commandArguments], { cwd: project, env: environment });
}

/** Waits until the only turn has this outcome; asked through one connection, since a command for each look would be a process each. */
async function waitForOutcome(what: string, outcome: string | null): Promise<void> {
  const { databaseUrl } = resolveConnections({}, readStack(join(project, '.holdfast')));
  const sql = postgres(databaseUrl, { max: 1 });
  const outcomes = async (): Promise<unknown> =>
    (await sql`select outcome from holdfast.turns`).map((turn) => turn['outcome']);
  try {
    await waitUntil(what, async () => isDeepStrictEqual(await outcomes(), [outcome]));
  } finally {
    await sql.end();
  }
}

test('an open turn goes on by itself after kill -9 of everything', async () => {
  // Everything is dead before the model answers.
  const release = await steerSimulator(simulator.url).hold({});
  await new DevProcess(project, ['--no-server'], environment).running();
  await holdfast('start', '--detach', 'Say hello');
  await waitForOutcome('the turn runs', null);
  for (const { processId } of await processesOfRun(project)) signalProcess(processId, 'SIGKILL');
  await waitUntil('nothing is left', async () => (await processesOfRun(project)).length === 0);
  await new DevProcess(project, [], environment).running();
  await release();
  await waitForOutcome('the turn has completed', 'completed');
  // What `curl` sees beside `holdfast dev`.
  const answer = await fetch(`${readStack(join(project, '.holdfast'))?.server?.url}/v1/conversations`);
  expect(await answer.json()).toMatchObject({ items: [{ title: 'Say hello', turn: { outcome: 'completed' } }] });
});
