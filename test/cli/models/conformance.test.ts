import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../../packages/simulator/src/index.ts';
import { runCli } from '../run-cli.ts';
import { runInProcess } from '../run-in-process.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

test('prints a row per capability and ends with 0; with --json one object; a dead address ends with 3', async () => {
  const args = ['model', 'test', '--model', 'simulator/sim-8k-thinking'];
  const environment = { HOLDFAST_SIMULATOR_URL: simulator.url };
  // As a process of its own: nothing that the checks leave open may keep it alive.
  const table = await runCli([...args, '--only', 'usage,tool_calls'], { environment });
  const dead = await runInProcess(['model', 'test', '--base-url', 'http://127.0.0.1:9', '--model', 'x', '--json']);
  expect(table.code).toBe(0);
  expect(table.stdout).toMatch(/^streaming +works +\d+ pieces/);
  expect(table.stdout).toMatch(/^tool calls +works +call, result and answer$/m);
  expect(dead.code).toBe(3);
  expect(JSON.parse(dead.stdout)).toMatchObject({ reachable: false, fits: false });
});

test.each([
  ['chat', ''],
  ['responses', '/'],
])('%s with a base URL that ends with "%s" is checked with /v1 behind it, and says so', async (protocol, given) => {
  const args = ['model', 'test', '--model', 'sim-8k', '--protocol', protocol, '--only', 'streaming'];
  const found = await runInProcess([...args, '--base-url', `${simulator.url}${given}`]);
  expect(found).toMatchObject({ code: 0, stdout: expect.stringMatching(/^streaming +works/) });
  expect(found.stderr).toContain(`sim-8k at ${simulator.url}/v1 (${protocol})`);
  const json = await runInProcess([...args, '--base-url', `${simulator.url}${given}`, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ baseUrl: `${simulator.url}/v1`, fits: true });
  const wrong = await runInProcess([...args, '--base-url', `${simulator.url}/other`]);
  expect(wrong).toMatchObject({ code: 5, stdout: expect.stringMatching(/^streaming +fails +HTTP 404/) });
});
