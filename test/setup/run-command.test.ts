import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyProject } from '../support/project-copy.ts';
import type { Outcome, ProjectCopy } from '../support/project-copy.ts';
import { COMMAND_NAMES } from '../../scripts/setup/run-command.mjs';

let project: ProjectCopy;

beforeAll(async () => {
  project = await copyProject();
  await project.run('scripts/setup.mjs');
  // A folder whose tests need no servers.
  const cases = join(project.root, 'test/turn/cases');
  await mkdir(cases, { recursive: true });
  const head = "import { spawn } from 'node:child_process';\nimport { beforeAll, expect, test } from 'vitest';\n";
  const files: Record<string, string> = {
    good: "test('one', () => expect(1).toBe(1));\ntest('two', () => expect(2).toBe(2));",
    bad: "test('right', () => expect(1).toBe(1));\ntest('wrong', () => expect(1).toBe(2));",
    skipped: "test('right', () => expect(1).toBe(1));\ntest.skip('skipped', () => undefined);\ntest.todo('todo');",
    hook: "beforeAll(() => { throw new Error('no server'); });\ntest('never ran', () => undefined);",
    broken: "import './missing.ts';\ntest('never seen', () => undefined);",
    unhandled: "test('right', () => { void Promise.reject(new Error('nobody waits')); });",
    leak: "test('right', () => { spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { detached: true, stdio: 'ignore' }).unref(); });",
  };
  await Promise.all(
    Object.entries(files).map(async ([name, text]) => writeFile(join(cases, `${name}.test.ts`), `${head}${text}\n`)),
  );
});

afterAll(async () => project.remove());

/** `npm test -- <arguments>` */
async function npmTest(...testArguments: string[]): Promise<Outcome & { lastLine: string }> {
  const outcome = await project.run('scripts/run.mjs', ['test', ...testArguments]);
  return { ...outcome, lastLine: outcome.stdout.trimEnd().split('\n').at(-1) ?? '' };
}

test('npm test counts as failed what failed, was skipped or left to do, cannot be imported, threw where nobody waits, a hook, and a process that leaked', async () => {
  const outcome = await npmTest(
    '--maxWorkers=1',
    ...['bad', 'skipped', 'broken', 'unhandled', 'hook', 'leak'].map((name) => `test/turn/cases/${name}.test.ts`),
  );
  // A failed one, a skipped one and one to do, a file, an error, a process; a hook alone or with the test that it kept from running.
  expect(outcome.lastLine, `${outcome.stdout}\n${outcome.stderr}`).toMatch(/^4 passed, [78] failed$/);
  expect(outcome.code).toBe(1);
  expect(outcome.stdout + outcome.stderr).toMatch(/1 leaked: [^]*setInterval/);
});

test('every script of the package that sets up and runs something names a command that there is', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const run = Object.values(scripts).flatMap((script) => /^node scripts\/run\.mjs (\S+)$/u.exec(script)?.[1] ?? []);
  expect(run.toSorted()).toEqual(COMMAND_NAMES.toSorted());
});
