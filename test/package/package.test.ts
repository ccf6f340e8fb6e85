import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTurnHarness } from '../support/turn-harness.ts';
import type { TurnHarness } from '../support/turn-harness.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let harness: TurnHarness;
let application: string;

beforeAll(async () => {
  harness = await startTurnHarness();
  application = await mkdtemp(join(tmpdir(), 'holdfast-application-'));
  // The set-up of the run has built these sources; a build now would take dist from under other tests.
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', application], { cwd: ROOT });
  const tarball = (await readdir(application)).find((name) => name.endsWith('.tgz')) ?? '';
  await writeFile(
    join(application, 'package.json'),
    JSON.stringify({
      name: 'application',
      private: true,
      type: 'module',
      dependencies: { holdfast: `file:${tarball}`, zod: '4.6.7' },
    }),
  );
  await run('npm', ['install', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: application });
  await copyFile(join(ROOT, 'docs/examples/own-tool.ts'), join(application, 'own-tool.ts'));
}, 400_000);

afterAll(async () => {
  await rm(application, { recursive: true, force: true });
  await harness.stop();
});

test('the packed library starts a worker with a tool of its own and completes a turn', async () => {
  const { stdout } = await run(process.execPath, ['--import', import.meta.resolve('tsx'), 'own-tool.ts'], {
    cwd: application,
    env: { ...process.env, ...harness.environment },
    timeout: 90_000,
  });
  expect(stdout).toMatch(/^completed: Done: 1 tool results?, the last one: 21 °C are 69\.8 °F/m);
}, 400_000);

test("the packed library's types are what the documentation's example needs", async () => {
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
  ];
  await expect(
    run(compiler, [...options, '--typeRoots', join(ROOT, 'node_modules/@types'), 'own-tool.ts'], { cwd: application }),
  ).resolves.toBeDefined();
}, 400_000);

test('the packed program answers, and contains migrations, the workflow bundle and the list of models', async () => {
  expect(await readdir(join(application, 'node_modules/holdfast/migrations'))).not.toHaveLength(0);
  expect(await readdir(join(application, 'node_modules/holdfast/dist'))).toContain('workflow-bundle.js');
  const models = await run(process.execPath, ['node_modules/holdfast/bin/holdfast.js', 'models', 'claude-sonnet-5-5'], {
    cwd: application,
  });
  expect(models.stdout).toContain('anthropic/claude-sonnet-5-5');
});
