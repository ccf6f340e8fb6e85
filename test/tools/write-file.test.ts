import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles } from '../../src/tools/builtin/list-files.ts';
import { writeFile as writeFileTool } from '../../src/tools/builtin/write-file.ts';
import { call, temporaryDirectory, type CallOptions } from './support/tool-context.ts';

const write = (workspace: string, input: object, context: CallOptions['context'] = {}) =>
  call(writeFileTool, { input: { path: 'file.txt', ...input }, context: { workspace, ...context } });

test('creates a file with its directories, replaces it, and leaves nothing else behind', async () => {
  const workspace = await temporaryDirectory();
  const created = await write(workspace, { path: 'a/b/c.txt', content: 'one\ntwo\n' });
  expect(created).toMatchObject({ isError: false, text: 'a/b/c.txt created: 2 lines, 8 bytes.' });
  const replaced = await write(workspace, { path: 'a/b/c.txt', content: 'ä' });
  expect(replaced.text).toBe('a/b/c.txt replaced: 1 line, 2 bytes.');
  expect(await readFile(join(workspace, 'a/b/c.txt'), 'utf8')).toBe('ä');
  expect(await readdir(join(workspace, 'a/b'))).toEqual(['c.txt']);
});

test('appends, also to a file that does not exist yet', async () => {
  const workspace = await temporaryDirectory();
  await write(workspace, { content: 'one\n', append: true });
  const appended = await write(workspace, { content: 'two\n', append: true });
  expect(appended.text).toBe('Appended to file.txt: 1 line, 4 bytes.');
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('one\ntwo\n');
});

test('appends with the line ends of the file', async () => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), 'a\r\nb\r\n');
  await write(workspace, { content: 'c\nd\n', append: true });
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('a\r\nb\r\nc\r\nd\r\n');
});

test('a repeated attempt does not append a second time what an earlier one has appended', async () => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), 'one\ntwo\n');
  const repeated = await write(workspace, { content: 'two\n', append: true }, { attempt: 2 });
  expect(repeated.isError).toBe(false);
  expect(repeated.text).toContain('was not appended again');
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('one\ntwo\n');
});

test('a repeated attempt appends when the earlier one had not', async () => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), 'one\n');
  await write(workspace, { content: 'two\n', append: true }, { attempt: 2 });
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('one\ntwo\n');
});

test('a first attempt may append the same line twice', async () => {
  const workspace = await temporaryDirectory();
  await write(workspace, { content: 'same\n', append: true });
  await write(workspace, { content: 'same\n', append: true });
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('same\nsame\n');
});

test.each([
  ['replacing', { content: 'two\n' }],
  ['appending', { content: 'two\n', append: true }],
])('a zombie that was replaced before it writes changes nothing and leaves nothing: %s', async (_, input) => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), 'one\n');
  const written: string[][] = [];
  const requireClaim = async (): Promise<void> => {
    // Asked when all but the rename is done: what comes before could be frozen again.
    written.push(await readdir(workspace));
    throw new Error('taken over');
  };
  const { isError } = await write(workspace, input, { requireClaim });
  expect(isError).toBe(true);
  expect(written).toEqual([[expect.stringMatching(/^\.holdfast-.*\.tmp$/u), 'file.txt']]);
  expect(await readdir(workspace)).toEqual(['file.txt']);
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('one\n');
});

test('a zombie that is replaced behind its last look loses what it would rename', async () => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), 'one\n');
  const input = { content: 'two\n', append: true };
  const call = { idempotencyKey: 'turn:1:0' };
  const requireClaim = async (): Promise<void> => {
    await write(workspace, input, { ...call, attempt: 2 });
    await write(workspace, { content: 'three\n', append: true });
  };
  const { isError } = await write(workspace, input, { ...call, attempt: 1, requireClaim });
  expect(isError).toBe(true);
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
});

test('what a killed attempt left is removed by the next one, and never listed', async () => {
  const workspace = await temporaryDirectory();
  const key = createHash('sha256').update('turn:1:0').digest('hex').slice(0, 16);
  await writeFile(join(workspace, `.holdfast-${key}-1.tmp`), 'half of it');
  expect((await call(listFiles, { context: { workspace } })).text).toBe('[. is empty]');
  await write(workspace, { content: 'whole' }, { idempotencyKey: 'turn:1:0', attempt: 2 });
  expect(await readdir(workspace)).toEqual(['file.txt']);
  expect(await readFile(join(workspace, 'file.txt'), 'utf8')).toBe('whole');
});

test('keeps the mode of an existing file', async () => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), '#!/bin/sh\n');
  await chmod(join(workspace, 'file.txt'), 0o776);
  await write(workspace, { content: 'changed' });
  expect((await stat(join(workspace, 'file.txt'))).mode & 0o777).toBe(0o776);
});

test('a reader sees the old content or the new one, never a part', async () => {
  const workspace = await temporaryDirectory();
  const contents = ['a'.repeat(500_000), 'b'.repeat(500_000)];
  await write(workspace, { content: contents[0] });
  const done = new AbortController();
  const reader = (async () => {
    for (let reads = 0; ; reads += 1) {
      if (done.signal.aborted) return reads;
      expect(contents).toContain(await readFile(join(workspace, 'file.txt'), 'utf8'));
    }
  })();
  for (let round = 0; round < 30; round += 1) await write(workspace, { content: contents[round % 2] });
  done.abort();
  expect(await reader).toBeGreaterThan(5);
});

test('a directory is not overwritten, and the error says what it is', async () => {
  const workspace = await temporaryDirectory();
  await mkdir(join(workspace, 'file.txt'));
  const outcome = await write(workspace, { content: 'x' });
  expect(outcome).toMatchObject({ isError: true, text: 'file.txt is a directory. list_files shows what is in it.' });
  expect((await write(workspace, { path: '.', content: 'x' })).isError).toBe(true);
  expect(await readdir(workspace)).toEqual(['file.txt']);
});

test('a path through a file is refused and nothing is made', async () => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), 'x');
  const outcome = await write(workspace, { path: 'file.txt/below/new.txt', content: 'x' });
  expect(outcome.text).toContain('is a file, not a directory');
});
