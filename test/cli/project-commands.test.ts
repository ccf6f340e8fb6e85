import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/command-list.ts';
import { writeStack } from '../../src/local/stack-file.ts';
import { runInProcess } from './run-in-process.ts';

let directory: string;

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-project-')));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const cli = (...args: string[]) => runInProcess(args, { directory });

test('`holdfast` alone says what to do next in a folder without a stack', async () => {
  const { code, stdout } = await cli();
  expect(code).toBe(0);
  expect(stdout).toMatch(/Next:\n.*npx holdfast init .*\n.*npx holdfast dev /u);
  expect(stdout.trimEnd().split('\n').length).toBeLessThan(12);
});

test('init writes first files, keeps what is there, and its configuration is valid', async () => {
  await writeFile(join(directory, '.gitignore'), 'node_modules');
  const first = JSON.parse((await cli('init', '--json')).stdout);
  expect(first.written).toEqual(['holdfast.yaml', 'own-tool.ts', 'own-tool.test.ts', '.gitignore']);
  expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('node_modules\n.holdfast/\n');
  expect((await cli('config', 'check')).stdout).toContain(`${join(directory, 'holdfast.yaml')} is valid.`);
  const again = JSON.parse((await cli('init', '--json')).stdout);
  expect(again).toMatchObject({ written: [], kept: ['holdfast.yaml', 'own-tool.ts', 'own-tool.test.ts'] });
});

test('config check lists every mistake and has an exit code for them; agents lists agents with their tools', async () => {
  const file = join(directory, 'holdfast.yaml');
  await writeFile(
    file,
    'agents:\n  reviewer: { tools: [read_file], presett: pi }\n  other: { limits: { steps: -1 } }\n',
  );
  const { code, stdout } = await cli('config', 'check');
  expect(code).toBe(5);
  expect(stdout).toMatch(/holdfast\.yaml:2:.*presett/u);
  expect(stdout).toMatch(/holdfast\.yaml:3:.*steps/u);
  // What only a worker refuses.
  await writeFile(file, 'agents:\n  reviewer: { tools: [read_file], approvals: { rules: [{ tool: read_fil }] } }\n');
  expect(await cli('config', 'check')).toMatchObject({ code: 5, stdout: expect.stringContaining('read_fil') });
  await writeFile(file, 'agents:\n  reviewer: { tools: [read_file], workspace: ./nowhere }\n');
  expect(await cli('config', 'check')).toMatchObject({ code: 5, stdout: expect.stringContaining('nowhere') });
  await writeFile(file, 'agents:\n  reviewer: { tools: [read_file], preset: pi }\n');
  expect((await cli('agents')).stdout).toMatch(/^reviewer .*pi +read_file$/mu);
});

test.each(['bash', 'zsh', 'fish'])('completion for %s has every command and those of groups', async (shell) => {
  const { stdout } = await cli('completion', shell);
  for (const [, commands] of COMMANDS) {
    for (const listed of commands) {
      expect(stdout).toContain(listed.name);
      if ('commands' in listed) expect(stdout).toContain(listed.commands.map(({ name }) => name).join(' '));
    }
  }
});

test('logs prints the last lines of a service, or says which there are', async () => {
  const { code, stderr } = await cli('logs');
  expect([code, stderr]).toEqual([2, expect.stringContaining('npx holdfast dev')]);
  await mkdir(join(directory, '.holdfast/logs'), { recursive: true });
  await writeFile(join(directory, '.holdfast/logs/worker.log'), 'one\ntwo\nthree\n');
  expect((await cli('logs', 'worker', '--lines', '2')).stdout).toBe('two\nthree\n');
  expect((await cli('logs', 'postgres')).stderr).toContain('There are: worker.');
});

test("open prints the address of Temporal's pages, or says how to start one", async () => {
  expect(await cli('open')).toMatchObject({ code: 2, stderr: expect.stringContaining('npx holdfast dev') });
  await mkdir(join(directory, '.holdfast'));
  await writeStack(join(directory, '.holdfast'), {
    version: 1,
    postgres: null,
    temporal: { address: '127.0.0.1:7233', namespace: 'default', uiUrl: 'http://127.0.0.1:8233' },
    simulator: null,
    server: null,
    processes: {},
  });
  expect((await cli('open')).stdout).toBe('http://127.0.0.1:8233/namespaces/default/workflows\n');
});
