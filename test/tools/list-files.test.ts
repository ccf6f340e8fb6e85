import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from '../../src/tools/builtin/list-files.ts';
import { call, temporaryDirectory } from './support/tool-context.ts';

async function project(): Promise<string> {
  const workspace = await temporaryDirectory();
  for (const directory of ['src/deep', '.git', 'node_modules/left-pad']) {
    await mkdir(join(workspace, directory), { recursive: true });
  }
  await writeFile(join(workspace, 'README.md'), '12345');
  await writeFile(join(workspace, 'src', 'a.ts'), '');
  await writeFile(join(workspace, 'src', 'deep', 'b.ts'), 'ab');
  await writeFile(join(workspace, 'node_modules', 'left-pad', 'index.js'), 'x');
  await writeFile(join(workspace, '.git', 'HEAD'), 'x');
  await symlink('README.md', join(workspace, 'link'));
  return workspace;
}

test('shows names with sizes, sorted, directories with a slash', async () => {
  const { text } = await call(listFiles, { context: { workspace: await project() } });
  expect(text.split('\n')).toEqual([
    '.git/',
    'README.md · 5 bytes',
    'link · symbolic link',
    'node_modules/',
    'src/',
    '[entries 1–5 of 5; end of list]',
  ]);
});

test('recursive lists everything below but repositories and packages', async () => {
  const { text } = await call(listFiles, { input: { recursive: true }, context: { workspace: await project() } });
  expect(text.split('\n')).toEqual([
    '.git/ · not entered',
    'README.md · 5 bytes',
    'link · symbolic link',
    'node_modules/ · not entered',
    'src/',
    'src/a.ts · 0 bytes',
    'src/deep/',
    'src/deep/b.ts · 2 bytes',
    '[entries 1–8 of 8; end of list]',
  ]);
});

test('what is passed over on the way is listed by its own path', async () => {
  const context = { workspace: await project() };
  const { text } = await call(listFiles, { input: { path: 'node_modules', recursive: true }, context });
  expect(text.split('\n')).toEqual([
    'node_modules/left-pad/',
    'node_modules/left-pad/index.js · 1 byte',
    '[entries 1–2 of 2; end of list]',
  ]);
});

test('pages cover every entry once, and each fits the result limit', async () => {
  const workspace = await temporaryDirectory();
  const names = Array.from({ length: 250 }, (_, index) => `file-${String(index).padStart(4, '0')}.txt`);
  await Promise.all(names.map((name) => writeFile(join(workspace, name), '')));
  const seen: string[] = [];
  for (let offset: number | undefined = 1; offset !== undefined;) {
    const { text } = await call(listFiles, { input: { offset }, context: { workspace, resultLimit: 2_000 } });
    expect(text.length).toBeLessThanOrEqual(2_000);
    const lines = text.split('\n');
    seen.push(...lines.slice(0, -1).map((line) => line.split(' · ')[0] ?? ''));
    const next = /list on with offset (\d+)\]$/.exec(lines.at(-1) ?? '');
    offset = next === null ? undefined : Number(next[1]);
  }
  expect(seen).toEqual(names);
});

test('an offset after the end, a file and a missing directory are named as what they are', async () => {
  const context = { workspace: await project() };
  expect((await call(listFiles, { input: { offset: 9 }, context })).text).toBe(
    'There are only 5 entries; offset is 9.',
  );
  expect((await call(listFiles, { input: { path: 'README.md' }, context })).text).toBe(
    'A part of README.md is a file, not a directory.',
  );
  expect((await call(listFiles, { input: { path: 'nope' }, context })).text).toContain('nope does not exist');
  await mkdir(join(context.workspace, 'empty'));
  expect((await call(listFiles, { input: { path: 'empty' }, context })).text).toBe('[empty is empty]');
});

test('a name with a line break is shown as one entry', async () => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'a\nb'), '');
  expect((await call(listFiles, { context: { workspace } })).text).toContain('"a\\nb" · 0 bytes\n[entries 1–1 of 1');
});

test('a walk ends when the call is aborted', async () => {
  const stop = new AbortController();
  stop.abort();
  const outcome = await call(listFiles, { context: { workspace: await project(), signal: stop.signal } });
  expect(outcome.ending).toBe('aborted');
});
