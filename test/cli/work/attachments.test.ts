import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attachOption, withAttachments } from '../../../src/cli/work/attachments.ts';

/** A PNG of 3 × 2 pixels: signature and header are all that is read of it. */
const PICTURE = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from('0000000300000002', 'hex'),
  Buffer.from('0802000000', 'hex'),
  Buffer.alloc(32),
]);
const PDF = Buffer.from('%PDF-1.7\n1 0 obj<</Type/Pages/Count 2>>\n<</Type/Page>><</Type /Page>>');

let directory: string;
const at = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-attach-'));
  await writeFile(at('page.png'), PICTURE);
  await writeFile(at('terms.pdf'), PDF);
  await writeFile(at('notes.txt'), 'Der Reiher steht im Fluß.');
  await writeFile(at('empty.txt'), '');
  await writeFile(at('fake.png'), 'no picture');
  await writeFile(at('huge.txt'), '');
  await truncate(at('huge.txt'), 21_000_000);
  await writeFile(at('binary.bin'), Buffer.from([0, 1, 2, 3]));
  await writeFile(at('latin-1.txt'), Buffer.from('Fluß', 'latin1'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('files become parts of the message in their order, byte for byte', async () => {
  const { parseArg } = attachOption('files');
  const files = parseArg?.(at('notes.txt'), parseArg<readonly string[]>(`${at('page.png')}, ${at('terms.pdf')}`, []));
  expect(await withAttachments('Look', files as readonly string[])).toEqual([
    { type: 'text', text: 'Look' },
    { type: 'image', data: PICTURE.toString('base64') },
    { type: 'file', mediaType: 'application/pdf', name: 'terms.pdf', data: PDF.toString('base64') },
    { type: 'text', text: '<attached_file name="notes.txt">\nDer Reiher steht im Fluß.\n</attached_file>' },
  ]);
});

test('without a file the text stays a text', async () => {
  expect(await withAttachments('Look', [])).toBe('Look');
});

test.each([
  ['binary.bin', 'is neither a picture that models read'],
  ['latin-1.txt', 'is neither a picture that models read'],
  ['missing.png', 'cannot be read (ENOENT)'],
  ['', 'is a folder'],
  ['empty.txt', 'is empty'],
  ['fake.png', 'is not what its name says'],
  ['huge.txt', 'are larger than 20 MB together'],
])('%s is refused, saying why', async (name, reason) => {
  await expect(withAttachments('Look', [at(name)])).rejects.toThrow(reason);
});
