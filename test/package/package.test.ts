import { execFile } from 'node:child_process';
import { copyFile, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { DevProcess, makeProject, projectEnvironment, removeProject } from '../support/dev-process.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = 'node_modules/holdfast/bin/holdfast.js';
/** Versions that a clone has in npm's cache. */
const pinned = z
  .object({ dependencies: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));

let application: string;

/** One command line as a shell of the application's runs it. */
async function shell(command: string): Promise<string> {
  const { stdout } = await run('sh', ['-ec', command], {
    cwd: application,
    // TMPDIR marks processes; npm and tsx may have theirs there too.
    env: { ...projectEnvironment(application), npm_config_prefer_offline: 'true', npm_config_audit: 'false' },
    timeout: 240_000,
  });
  return stdout;
}

/** The commands in the head of the example, in order: how an empty folder comes to run it. */
async function commandsOfExample(): Promise<string[]> {
  const example = await readFile(join(ROOT, 'docs/examples/own-tool.ts'), 'utf8');
  const head = example.slice(0, example.indexOf('import '));
  return [...head.matchAll(/^\/\/ {3}(\S.*?)(?: {2,}.*)?$/gmu)].map(([, command = '']) => command);
}

let commands: string[];

/** An empty folder in which the first of them was run, with the packed packages in the place of the registry's. */
beforeAll(async () => {
  application = await makeProject();
  commands = await commandsOfExample();
  // The set-up of the run has built these sources; a build now would take dist from under other tests.
  const packing = ['pack', '--workspaces', '--include-workspace-root', '--silent', '--ignore-scripts'];
  await run('npm', [...packing, '--pack-destination', application], { cwd: ROOT });
  const packed = (await readdir(application)).filter((name) => name.endsWith('.tgz')).map((name) => `./${name}`);
  expect(packed).toHaveLength(3);
  const { zod } = pinned.dependencies;
  const { tsx } = pinned.devDependencies;
  const install = (commands[0] ?? '').replace(' holdfast zod tsx', ` ${packed.join(' ')} zod@${zod} tsx@${tsx}`);
  expect(install).toContain(packed[0]);
  await shell(install);
}, 400_000);

afterAll(async () => removeProject(application));

test('in an empty folder the example runs beside `holdfast dev` by the commands in its head', async () => {
  expect(commands.slice(1)).toEqual([
    'cp node_modules/holdfast/docs/examples/own-tool.ts .',
    'npx holdfast dev',
    'HOLDFAST_LOG_LEVEL=warn npx tsx own-tool.ts',
  ]);
  await shell(commands[1] ?? '');
  const dev = new DevProcess(application, [], projectEnvironment(application), join(application, PROGRAM));
  try {
    await dev.running();
    const printed = await shell(commands[3] ?? '');
    expect(printed).toMatch(/^completed: Done: 1 tool results?, the last one: 21 °C are 69\.8 °F/mu);
    expect(printed).toContain('The turn completed.');
  } finally {
    dev.pressControlC();
    expect(await dev.exitCode()).toBe(0);
  }
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
  await copyFile(join(ROOT, 'docs/examples/own-tool.ts'), join(application, 'typed.ts'));
  await expect(
    run(compiler, [...options, '--typeRoots', join(ROOT, 'node_modules/@types'), 'typed.ts'], { cwd: application }),
  ).resolves.toBeDefined();
}, 400_000);

test('the packed program answers, and contains migrations, the workflow bundle and the list of models', async () => {
  expect(await readdir(join(application, 'node_modules/holdfast/migrations'))).not.toHaveLength(0);
  expect(await readdir(join(application, 'node_modules/holdfast/dist'))).toContain('workflow-bundle.js');
  expect(await shell(`node ${PROGRAM} model list claude-sonnet-5-5`)).toContain('anthropic/claude-sonnet-5-5');
});

test('the packed lab replays a recorded session', async () => {
  await copyFile(join(ROOT, 'test/import/fixtures/pi.jsonl'), join(application, 'session.jsonl'));
  const printed = await shell('npx holdfast-lab session.jsonl --preset pi --window 32k');
  expect(printed).toContain('1 session; summaries by simulator/sim-31k');
});
