import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { editFile } from '../../src/tools/edit-file.ts';
import { call, temporaryDirectory, type CallOptions } from './support/tool-context.ts';

interface Edit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean;
}

/** Edits a file of the given content and returns the result and what the file then holds. */
async function edit(content: string | Uint8Array, input: Edit, context: CallOptions['context'] = {}) {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), content);
  const outcome = await call(editFile, { input: { path: 'file.txt', ...input }, context: { workspace, ...context } });
  return { ...outcome, after: await readFile(join(workspace, 'file.txt')) };
}

test('replaces the one place and says where', async () => {
  const { after, text } = await edit('one\ntwo\nthree\n', { old_text: 'two', new_text: '2' });
  expect(after.toString()).toBe('one\n2\nthree\n');
  expect(text).toBe('file.txt changed in one place, first at line 2.');
});

test('replaces every place with replace_all', async () => {
  const { after, text } = await edit('a b a', { old_text: 'a', new_text: 'aa', replace_all: true });
  expect(after.toString()).toBe('aa b aa');
  expect(text).toContain('2 places');
});

test('a text that occurs more than once is refused with its lines, and the file is left alone', async () => {
  const { after, text, isError } = await edit('x\ny\nx\n', { old_text: 'x', new_text: 'z' });
  expect(isError).toBe(true);
  expect(text).toContain('holds old_text 2 times (lines 1, 3)');
  expect(after.toString()).toBe('x\ny\nx\n');
});

test('a text that is not there is refused; if only white space differs, that is said', async () => {
  expect((await edit('one', { old_text: 'two', new_text: '' })).text).toBe(
    'file.txt does not hold old_text. Read the place with read_file first.',
  );
  const { text } = await edit('if (a) {\n\treturn;\n}', { old_text: 'if (a) {\n  return;\n}', new_text: '' });
  expect(text).toContain('It occurs with other white space');
});

test('texts with plain line ends fit a file with Windows line ends, which it keeps', async () => {
  const { after } = await edit('one\r\ntwo\r\nthree\r\n', { old_text: 'one\ntwo', new_text: '1\n2\n2b' });
  expect(after.toString()).toBe('1\r\n2\r\n2b\r\nthree\r\n');
});

test('bytes that are no UTF-8 survive an edit elsewhere', async () => {
  const { after } = await edit(Buffer.from([0xff, 0x61, 0xfe]), { old_text: 'a', new_text: 'b' });
  expect([...after]).toEqual([0xff, 0x62, 0xfe]);
});

test('new text is taken literally, whatever patterns it contains', async () => {
  const { after } = await edit('price', { old_text: 'price', new_text: "$& $1 $'" });
  expect(after.toString()).toBe("$& $1 $'");
});

test('old and new text that are the same are refused', async () => {
  expect((await edit('a', { old_text: 'a', new_text: 'a' })).text).toContain('nothing to do');
});

const REPLAYS: readonly (readonly [string, string, Edit])[] = [
  ['a plain replacement', 'one 2 three', { old_text: 'two', new_text: '2' }],
  ['lines added after', 'one\ntwo\n', { old_text: 'one\n', new_text: 'one\ntwo\n' }],
  ['a name that contains the old one', 'foobar(foobar)', { old_text: 'foo', new_text: 'foobar', replace_all: true }],
  ['a deletion', 'a c', { old_text: 'b ', new_text: '' }],
];

test.each(REPLAYS)('a repeated attempt finds %s done and changes nothing', async (_, done, input) => {
  const { after, text, isError } = await edit(done, input, { attempt: 2 });
  expect(isError).toBe(false);
  expect(text).toContain('was already changed');
  expect(after.toString()).toBe(done);
});

const FRESH: readonly (readonly [string, string, Edit, string])[] = [
  ['a plain replacement', 'one two three', { old_text: 'two', new_text: '2' }, 'one 2 three'],
  ['lines added after', 'one\nthree\n', { old_text: 'one\n', new_text: 'one\ntwo\n' }, 'one\ntwo\nthree\n'],
  ['a deletion', 'a b c', { old_text: 'b ', new_text: '' }, 'a c'],
];

test.each(FRESH)('a repeated attempt makes %s that the earlier one had not', async (_, before, input, expected) => {
  expect((await edit(before, input, { attempt: 2 })).after.toString()).toBe(expected);
});

test('a first attempt is never taken for a repeated one', async () => {
  const { after } = await edit('foo foobar', { old_text: 'foo', new_text: 'foobar', replace_all: true });
  expect(after.toString()).toBe('foobar foobarbar');
});

test('a zombie that was replaced before it writes changes nothing', async () => {
  const requireClaim = (): Promise<void> => Promise.reject(new Error('taken over'));
  const { after, isError } = await edit('one\n', { old_text: 'one', new_text: 'two' }, { requireClaim });
  expect(isError).toBe(true);
  expect(after.toString()).toBe('one\n');
});

test('a zombie that is replaced behind its last look takes back no edit of its successor nor what came after it', async () => {
  const workspace = await temporaryDirectory();
  const path = join(workspace, 'file.txt');
  await writeFile(path, 'one\n');
  const input = { path: 'file.txt', old_text: 'one', new_text: 'two' };
  const context = { workspace, idempotencyKey: 'turn:1:0' };
  const requireClaim = async (): Promise<void> => {
    await call(editFile, { input, context: { ...context, attempt: 2 } });
    await call(editFile, { input: { ...input, old_text: 'two', new_text: 'three' }, context: { workspace } });
  };
  const zombie = await call(editFile, { input, context: { ...context, attempt: 1, requireClaim } });
  expect(zombie.isError).toBe(true);
  expect(await readFile(path, 'utf8')).toBe('three\n');
});
