import * as fc from 'fast-check';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFile } from '../../src/tools/builtin/read-file.ts';
import { call, temporaryDirectory } from './support/tool-context.ts';

async function fileWith(content: string | Uint8Array): Promise<{ readonly workspace: string }> {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), content);
  return { workspace };
}

const read = (context: { readonly workspace: string; readonly resultLimit?: number }, input: object = {}) =>
  call(readFile, { input: { path: 'file.txt', ...input }, context });

test('shows each line with its number and says where the file ends', async () => {
  const { text } = await read(await fileWith('one\r\ntwo\n\nfour'));
  expect(text).toBe('1\tone\n2\ttwo\n3\t\n4\tfour\n[lines 1–4 of 4; end of file]');
});

test('a page says with which offset to read on', async () => {
  const context = await fileWith('a\nb\nc\nd\n');
  expect((await read(context, { limit: 2 })).text).toBe('1\ta\n2\tb\n[lines 1–2 of 4; read on with offset 3]');
  expect((await read(context, { offset: 3, limit: 2 })).text).toBe('3\tc\n4\td\n[lines 3–4 of 4; end of file]');
});

test('pages put together are the file, whatever its lines', async () => {
  const workspace = await temporaryDirectory();
  const line = fc.string({ unit: 'grapheme', maxLength: 400 }).map((text) => text.replaceAll(/[\r\n\0]/g, ' '));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      await writeFile(join(workspace, 'file.txt'), `${lines.join('\n')}\n`);
      const seen: string[] = [];
      for (let offset = 1; offset <= lines.length;) {
        const { text } = await read({ workspace, resultLimit: 2_000 }, { offset });
        expect(text.length).toBeLessThanOrEqual(2_000);
        const shown = text.split('\n').slice(0, -1);
        seen.push(...shown.map((one) => one.slice(one.indexOf('\t') + 1)));
        offset += shown.length;
      }
      expect(seen).toEqual(lines);
    }),
    { numRuns: 30 },
  );
});

test('a line longer than a page is read on by column, without a character lost or split', async () => {
  const long = Array.from({ length: 2_000 }, (_, index) => `${index}😀`).join('');
  const context = { ...(await fileWith(`short\n${long}\nend\n`)), resultLimit: 2_000 };
  const first = await read(context);
  expect(first.text).toBe('1\tshort\n[lines 1–1 of 3; read on with offset 2]');
  let seen = '';
  for (let column = 1; ;) {
    const { text } = await read(context, { offset: 2, column });
    const [shown = ''] = text.split('\n');
    seen += shown.slice(2);
    const next = /offset 2 and column (\d+)\]$/.exec(text);
    if (next === null) break;
    column = Number(next[1]);
    expect(column - 1).toBe(seen.length);
  }
  expect(seen).toBe(long);
});

test('an offset after the end names the number of lines', async () => {
  const outcome = await read(await fileWith('a\nb\n'), { offset: 3 });
  expect(outcome).toMatchObject({ isError: true, text: 'file.txt has 2 lines; offset is 3.' });
});

test('an empty file, a binary file, a directory and a missing file are named as what they are', async () => {
  const context = await fileWith('');
  expect((await read(context)).text).toBe('[the file is empty]');
  await writeFile(join(context.workspace, 'file.txt'), Buffer.from([0x89, 0x50, 0, 1]));
  expect((await read(context)).text).toBe('file.txt is a binary file of 4 bytes; read_file shows text only.');
  expect((await read(context, { path: '.' })).text).toContain('. is a directory. list_files shows');
  expect((await read(context, { path: 'none.txt' })).text).toContain('none.txt does not exist');
});

test('bytes that are no UTF-8 are shown as replacement characters', async () => {
  const { text } = await read(await fileWith(Buffer.from([0x61, 0xff, 0x62, 0x0a])));
  expect(text).toBe('1\ta\ufffdb\n[lines 1–1 of 1; end of file]');
});

test('a character split between two chunks of the file is whole', async () => {
  const filler = 'x'.repeat(64 * 1_024 - 1 - 100);
  const context = { ...(await fileWith(`${'y'.repeat(99)}\n${filler}ä\n`)), resultLimit: 100_000 };
  expect((await read(context)).text).toContain('xä\n[lines 1–2 of 2');
});

test('a huge file is read in the middle with flat memory, and lines beyond 64 MB are not counted', async () => {
  const workspace = await temporaryDirectory();
  const file = await open(join(workspace, 'file.txt'), 'w');
  const chunk = Buffer.from('0123456789abcde\n'.repeat(65_536));
  for (let megabyte = 0; megabyte < 100; megabyte += 1) await file.write(chunk);
  await file.close();
  const before = process.memoryUsage().rss;
  const { text } = await read({ workspace }, { offset: 1_000_000, limit: 1 });
  expect(text).toMatch(
    /^1000000\t0123456789abcde\n\[lines 1000000–1000000 of more than \d+; read on with offset 1000001\]$/,
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1_024 * 1_024);
});
