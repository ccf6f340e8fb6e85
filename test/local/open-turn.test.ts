import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, test } from 'vitest';
import { z } from 'zod';
import { signalProcess } from '../../src/local/process-signals.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import type { Simulator } from '../../src/simulator/index.ts';
import { DevProcess, makeProject, PROGRAM, projectEnvironment, removeProject } from '../support/dev-process.ts';
import { processesOfRun } from '../support/leaked-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const list = z.object({
  conversations: z.array(
    z.looseObject({ turn: z.looseObject({ state: z.string(), outcome: z.string().nullable() }).nullable() }),
  ),
});

let project: string;
let simulator: Simulator;
let environment: NodeJS.ProcessEnv;
beforeEach(async () => {
  project = await makeProject();
  // Long enough that everything is dead before the model has answered.
  simulator = await startSimulator({ latency: 6000 });
  environment = { ...projectEnvironment(project), HOLDFAST_SIMULATOR_URL: simulator.url };
});
afterEach(async () => {
  await removeProject(project);
  await simulator.close();
});

async function holdfast(...commandArguments: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...commandArguments], {
    cwd: project,
    env: environment,
  });
  return stdout;
}

/** State and outcome of the only turn. */
async function turn(): Promise<string> {
  const { conversations } = list.parse(JSON.parse(await holdfast('list', '--json')));
  const found = conversations[0]?.turn;
  return `${found?.state} ${found?.outcome}`;
}

test('an open turn goes on by itself after kill -9 of everything', { timeout: 180_000 }, async () => {
  await new DevProcess(project, [], environment).running();
  await holdfast('start', '--detach', 'Say hello');
  await waitUntil('the turn runs', async () => (await turn()) === 'running null');
  for (const { processId } of await processesOfRun(project)) signalProcess(processId, 'SIGKILL');
  await waitUntil('nothing is left', async () => (await processesOfRun(project)).length === 0);
  await new DevProcess(project, [], environment).running();
  await waitUntil('the turn has completed', async () => (await turn()) === 'ended completed', 60_000);
});
