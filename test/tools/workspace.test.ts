import { execFileSync } from 'node:child_process';
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editFile } from '../../src/tools/builtin/edit-file.ts';
import { ToolError } from '../../src/tools/errors.ts';
import { listFiles } from '../../src/tools/builtin/list-files.ts';
import { readFile as readFileTool } from '../../src/tools/builtin/read-file.ts';
import { searchFiles } from '../../src/tools/builtin/search-files.ts';
import { locate, openDirectory, openFile, pathSegments } from '../../src/tools/files/workspace.ts';
import { writeFile as writeFileTool } from '../../src/tools/builtin/write-file.ts';
import { call, temporaryDirectory } from './support/tool-context.ts';

const SECRET = 'the content of a file outside';

/** A workspace with an inside, and beside it an outside that must never be reached. */
async function place() {
  const base = await temporaryDirectory();
  const inside = join(base, 'workspace');
  const outside = join(base, 'outside');
  await mkdir(join(inside, 'directory'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(inside, 'directory', 'file.txt'), 'inside\n');
  await writeFile(join(outside, 'secret.txt'), SECRET);
  return { base, inside, outside };
}

const REFUSED_FORMS: readonly string[] = [
  '../outside/secret.txt',
  'directory/../../outside/secret.txt',
  'directory/..',
  '..',
  '/etc/passwd',
  '//etc/passwd',
  'C:\\Windows\\win.ini',
  '~/secret.txt',
  'file\0.txt',
  'a/'.repeat(3_000),
];

test.each(REFUSED_FORMS)('the path %j is refused by its form', (path) => {
  expect(() => pathSegments(path)).toThrow(expect.objectContaining({ code: 'path_refused' }));
});

test('ordinary paths keep their names, whatever dots and slashes are around', () => {
  expect(pathSegments('./a//b/./..c/...')).toEqual(['a', 'b', '..c', '...']);
  expect(pathSegments('.')).toEqual([]);
});

test.each(REFUSED_FORMS)('no file tool reads, lists, searches or writes by way of %j', async (path) => {
  const { inside, outside } = await place();
  const context = { workspace: inside };
  for (const outcome of [
    await call(readFileTool, { input: { path }, context }),
    await call(listFiles, { input: { path }, context }),
    await call(searchFiles, { input: { path, pattern: '.' }, context }),
    await call(writeFileTool, { input: { path, content: 'x' }, context }),
    await call(writeFileTool, { input: { path, content: 'x', append: true }, context }),
    await call(editFile, { input: { path, old_text: 'the', new_text: 'x' }, context }),
  ]) {
    expect(outcome).toMatchObject({ isError: true, ending: 'tool_failed' });
    expect(outcome.text).not.toContain(SECRET);
  }
  expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
});

const LINKS: readonly (readonly [string, (inside: string, outside: string) => Promise<void>, string])[] = [
  ['a link to a file outside', (i, o) => symlink(join(o, 'secret.txt'), join(i, 'link')), 'link'],
  ['a relative link to a file outside', (i) => symlink('../outside/secret.txt', join(i, 'link')), 'link'],
  ['a linked directory outside', (i, o) => symlink(o, join(i, 'link')), 'link/secret.txt'],
  ['a linked directory outside, new file', (i, o) => symlink(o, join(i, 'link')), 'link/new.txt'],
  ['a dangling link to the outside', (i, o) => symlink(join(o, 'new.txt'), join(i, 'link')), 'link'],
  ['a dangling link on the way', (i, o) => symlink(join(o, 'none'), join(i, 'link')), 'link/new.txt'],
  [
    'a link in a linked directory',
    async (i, o) => {
      await symlink(o, join(i, 'directory', 'up'));
      await symlink('directory', join(i, 'link'));
    },
    'link/up/secret.txt',
  ],
  [
    'a circle of links',
    async (i) => {
      await symlink('two', join(i, 'one'));
      await symlink('one', join(i, 'two'));
    },
    'one',
  ],
];

test.each(LINKS)('%s leads nowhere', async (_, make, path) => {
  const { inside, outside } = await place();
  await make(inside, outside);
  const context = { workspace: inside };
  for (const outcome of [
    await call(readFileTool, { input: { path }, context }),
    await call(searchFiles, { input: { path, pattern: '.' }, context }),
    await call(writeFileTool, { input: { path, content: 'x' }, context }),
    await call(writeFileTool, { input: { path, content: 'x', append: true }, context }),
    await call(editFile, { input: { path, old_text: 'the', new_text: 'x' }, context }),
  ]) {
    expect(outcome.isError, outcome.text).toBe(true);
    expect(outcome.text).not.toContain(SECRET);
    expect(outcome.text).not.toContain(inside);
  }
  const search = await call(searchFiles, { input: { pattern: 'outside' }, context });
  expect(search.text).not.toContain(SECRET);
  expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
  await expect(readFile(join(outside, 'new.txt'))).rejects.toThrow('ENOENT');
});

test('a dangling link is named as what it is, not as a file that could be made', async () => {
  const { inside, outside } = await place();
  await symlink(join(outside, 'new.txt'), join(inside, 'link'));
  const outcome = await call(writeFileTool, { input: { path: 'link', content: 'x' }, context: { workspace: inside } });
  expect(outcome.text).toBe('link goes through a symbolic link to something that does not exist.');
});

test('links that stay inside are followed, also for writing', async () => {
  const { inside } = await place();
  await symlink('directory', join(inside, 'link'));
  await symlink('directory/file.txt', join(inside, 'file-link'));
  const context = { workspace: inside };
  expect((await call(readFileTool, { input: { path: 'link/file.txt' }, context })).text).toContain('inside');
  await call(writeFileTool, { input: { path: 'file-link', content: 'changed' }, context });
  expect(await readFile(join(inside, 'directory', 'file.txt'), 'utf8')).toBe('changed');
  expect((await call(readFileTool, { input: { path: 'file-link' }, context })).text).toContain('changed');
});

test('a directory that is swapped for a link after it was located is noticed when it is opened', async () => {
  const { inside, outside } = await place();
  const context = { workspace: inside, protectedPaths: [] };
  await writeFile(join(outside, 'file.txt'), SECRET);
  const location = await locate(context, 'directory/file.txt');
  const directory = await locate(context, 'directory');
  await rename(join(inside, 'directory'), join(inside, 'moved'));
  await symlink(outside, join(inside, 'directory'));
  await expect(openFile(location)).rejects.toThrow('leads out of the workspace');
  await expect(openDirectory(directory)).rejects.toBeInstanceOf(ToolError);
});

test('names in an open directory mean that directory, even after its path leads elsewhere', async () => {
  const { inside, outside } = await place();
  const directory = await openDirectory(await locate({ workspace: inside, protectedPaths: [] }, 'directory'));
  try {
    await rename(join(inside, 'directory'), join(inside, 'moved'));
    await symlink(outside, join(inside, 'directory'));
    await writeFile(directory.path('new.txt'), 'x');
  } finally {
    await directory.handle.close();
  }
  expect(await readFile(join(inside, 'moved', 'new.txt'), 'utf8')).toBe('x');
  await expect(readFile(join(outside, 'new.txt'))).rejects.toThrow('ENOENT');
});

test('a directory that keeps turning into a link to the outside is never followed there', async () => {
  const { inside, outside } = await place();
  await writeFile(join(outside, 'file.txt'), SECRET);
  const directory = join(inside, 'directory');
  const done = new AbortController();
  const swapping = (async () => {
    for (let swaps = 0; ; swaps += 1) {
      if (done.signal.aborted) return swaps;
      try {
        await rm(directory, { recursive: true, force: true });
        await (swaps % 2 === 0 ? symlink(outside, directory) : mkdir(directory));
      } catch {
        // The write tool made the directory in between: the next round removes it.
      }
    }
  })();
  const context = { workspace: inside };
  let refused = 0;
  for (let round = 0; round < 60 || (refused < 5 && round < 3_000); round += 1) {
    const read = await call(readFileTool, { input: { path: 'directory/file.txt' }, context });
    expect(read.text).not.toContain(SECRET);
    if (read.text.includes('leads out of the workspace')) refused += 1;
    await call(writeFileTool, { input: { path: 'directory/new/file.txt', content: 'x' }, context });
    await call(writeFileTool, { input: { path: 'directory/file.txt', content: 'inside' }, context });
  }
  done.abort();
  expect(await swapping).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(0);
  expect((await readdir(outside)).toSorted()).toEqual(['file.txt', 'secret.txt']);
  expect(await readFile(join(outside, 'file.txt'), 'utf8')).toBe(SECRET);
});

test('writing over a hard link of an outside file leaves the outside file alone', async () => {
  const { inside, outside } = await place();
  await link(join(outside, 'secret.txt'), join(inside, 'hard'));
  const context = { workspace: inside };
  await call(writeFileTool, { input: { path: 'hard', content: 'changed' }, context });
  await call(editFile, { input: { path: 'hard', old_text: 'changed', new_text: 'again' }, context });
  expect(await readFile(join(inside, 'hard'), 'utf8')).toBe('again');
  expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
});

test('a named pipe is refused instead of being waited for', async () => {
  const { inside } = await place();
  execFileSync('mkfifo', [join(inside, 'pipe')]);
  const context = { workspace: inside };
  const read = await call(readFileTool, { input: { path: 'pipe' }, context });
  expect(read.text).toBe('pipe is neither a file nor a directory (a pipe, socket or device).');
  expect((await call(writeFileTool, { input: { path: 'pipe', content: 'x' }, context })).isError).toBe(true);
  expect((await call(searchFiles, { input: { pattern: 'x' }, context })).isError).toBe(false);
});

test('a workspace that is missing or a file is a readable error', async () => {
  const { base, inside } = await place();
  await rm(inside, { recursive: true });
  const missing = await call(listFiles, { context: { workspace: inside } });
  expect(missing.text).toContain("agent's workspace cannot be opened");
  await writeFile(join(base, 'file'), '');
  const file = await call(listFiles, { context: { workspace: join(base, 'file') } });
  expect(file.text).toContain("agent's workspace is not a directory");
});

test('a name longer than the file system takes is a readable error', async () => {
  const { inside } = await place();
  const input = { path: 'x'.repeat(300), content: 'x' };
  const outcome = await call(writeFileTool, { input, context: { workspace: inside } });
  expect(outcome.text).toContain('too long for the file system');
});
