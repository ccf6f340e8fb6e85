import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { copyFile, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { readStack } from '../../src/local/stack-file.ts';
import { DevProcess, endProcesses, makeProject, projectEnvironment, removeProject } from '../support/dev-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = 'node_modules/holdfast/bin/holdfast.js';
/** Versions that a clone has in npm's cache. */
const pinned = z
  .object({ dependencies: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));

let application: string;

/** TMPDIR marks processes; npm and tsx may have theirs there too. */
const environment = (): NodeJS.ProcessEnv => ({
  ...projectEnvironment(application),
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
});

/** One command line as a shell of the application's runs it. */
async function shell(command: string): Promise<string> {
  const { stdout } = await run('sh', ['-ec', command], {
    cwd: application,
    env: environment(),
    timeout: 600_000,
  });
  return stdout;
}

/** What npx runs. It takes a second of the processor before it does, and the test of the example shows that it finds both programs. */
const withoutNpx = (command: string): string => command.replaceAll('npx ', 'node_modules/.bin/');

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
});

afterAll(async () => removeProject(application));

test('in an empty folder the example runs beside `holdfast dev` by the commands in its head', async () => {
  expect(commands.slice(1)).toEqual([
    'cp node_modules/holdfast/docs/examples/own-tool.ts .',
    'npx holdfast dev',
    'HOLDFAST_LOG_LEVEL=error npx tsx own-tool.ts',
  ]);
  await shell(commands[1] ?? '');
  const dev = new DevProcess(application, [], projectEnvironment(application), join(application, PROGRAM));
  try {
    await dev.running();
    const printed = await shell(commands[3] ?? '');
    expect(printed).toMatch(/^completed: Done: 1 tool result, the last one: 21 °C are 69\.8 °F/mu);
    expect(printed).toContain('The turn completed.');
    await tryCurlLines(readStack(join(application, '.holdfast'))?.server?.url ?? '');
  } finally {
    dev.pressControlC();
    expect(await dev.exitCode()).toBe(0);
  }
});

/** The three lines of the README, at the address of this server and with the id that the first one answers. */
async function tryCurlLines(url: string): Promise<void> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const lines = [...readme.matchAll(/^curl .*$/gmu)].map(([line]) => line.replace('localhost:7070', url));
  expect(lines).toHaveLength(3);
  const [start = '', list = '', follow = ''] = lines;
  const { conversationId } = z.object({ conversationId: z.string() }).parse(JSON.parse(await shell(start)));
  expect(await shell(list)).toContain(conversationId);
  const following = leaveRunning(follow.replace('<conversationId>', conversationId));
  await waitUntil('the turn is told to its end', () => following.printed.includes('"kind":"turn_ended"'));
  following.child.kill();
}

/** What a reader of the tutorial saves, and types: a file's text by its name, and lines of the shell in their order. */
async function readTutorial(): Promise<{ readonly files: [name: string, text: string][]; readonly lines: string[] }> {
  const page = await readFile(join(ROOT, 'docs/tutorial.md'), 'utf8');
  const files = [...page.matchAll(/^Save this \w+ as `([\w.]+)`[^]*?^```ts\n([^]*?)^```/gmu)];
  const blocks = [...page.matchAll(/^```sh\n([^]*?)^```/gmu)];
  return {
    files: files.map(([, name = '', text = '']) => [name, text]),
    lines: blocks.flatMap(([, block = '']) => block.trim().split('\n')),
  };
}

/** A command that a reader leaves running in a terminal. */
function leaveRunning(command: string): { readonly child: ChildProcess; printed: string } {
  const child = spawn('sh', ['-c', command], { cwd: application, env: environment() });
  const running = { child, printed: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    running.printed += chunk.toString();
  });
  return running;
}

/** As the tutorial says, and waits for the worker that the change brings. */
async function nameModule(dev: DevProcess, first: number): Promise<void> {
  const file = join(application, 'holdfast.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('[own-tool.ts]', '[own-tool.ts, weather.ts]'));
  const isAnother = ({ event, service, processId }: (typeof dev.lines)[number]): boolean =>
    event === 'ready' && service === 'worker' && processId !== first;
  await waitUntil('another worker runs', () => dev.lines.some(isAnother));
}

test('the tutorial works line by line, with the packed package in an empty folder', async () => {
  const { files, lines } = await readTutorial();
  expect(files.map(([name]) => name)).toEqual(['weather.ts', 'task.ts']);
  for (const [name, text] of files) await writeFile(join(application, name), text);
  expect(lines.slice(0, 3)).toEqual([commands[0], 'npx holdfast init', 'npx holdfast dev']);
  // The example of the test above has the same name, and starts a worker by itself.
  await rm(join(application, 'own-tool.ts'));
  await shell(lines[1] ?? '');
  const dev = new DevProcess(application, [], environment(), join(application, PROGRAM));
  const printed: Record<string, string> = {};
  let watching = { printed: '' };
  try {
    const { worker: first } = await dev.running();
    for (const line of lines.slice(3)) {
      if (line.startsWith('npx tsx task.ts')) await nameModule(dev, first ?? 0);
      if (line === 'npx holdfast watch last') watching = leaveRunning(withoutNpx(line));
      else {
        if (line.startsWith('kill')) await waitUntil('a call runs', () => watching.printed.includes('Step 1 of 8'));
        if (line.startsWith('npx holdfast context'))
          await waitUntil('it ends', () => watching.printed.includes('✓ completed'));
        printed[line] = await shell(withoutNpx(line));
      }
    }
  } finally {
    await endProcesses(application);
    await dev.exitCode();
  }
  // What is said of the kill depends on what it falls into: a tool call, a model call, or the moment between two.
  expect(watching.printed).toMatch(/(?:✓ read_station station=\d [^✓]*){8}✓ completed/u);
  expect(watching.printed).toMatch(/compaction done: [\d,]+ → [\d,]+ tokens/u);
  const expected: Readonly<Record<string, RegExp>> = {
    [lines[3] ?? '']: /^Done: 1 tool result, the last one: 21 °C are 69\.8 °F$/mu,
    'npx holdfast recall last "Chidi"': /The keeper of station 3 is Chidi\./u,
    'npx holdfast list': /waiting for approval/u,
    'npx holdfast approve last': /^Approved call 3\.1\.0: raise_alarm Brest$/mu,
  };
  for (const [line, output] of Object.entries(expected)) expect(printed[line], line).toMatch(output);
});

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
});

test('the packed program answers, and contains migrations, the workflow bundle and the list of models', async () => {
  expect(await readdir(join(application, 'node_modules/holdfast/migrations'))).not.toHaveLength(0);
  expect(await readdir(join(application, 'node_modules/holdfast/dist'))).toContain('workflow-bundle.js');
  expect(await shell(`node ${PROGRAM} model list claude-sonnet-5-5`)).toContain('anthropic/claude-sonnet-5-5');
});

test('the packed lab replays a recorded session', async () => {
  await copyFile(join(ROOT, 'test/import/fixtures/pi.jsonl'), join(application, 'session.jsonl'));
  const printed = await shell('node_modules/.bin/holdfast-lab session.jsonl --preset pi --window 32k');
  expect(printed).toContain('1 session; summaries by simulator/sim-31k');
});
