import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editFile } from '../../src/tools/builtin/edit-file.ts';
import { replaceText } from '../../src/tools/files/replace-text.ts';
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

const LINE_ENDS: readonly (readonly [string, string, Edit, string])[] = [
  ['a new line in a file with Windows line ends', 'a\r\nb\r\n', { old_text: 'a', new_text: 'a\nA' }, 'a\r\nA\r\nb\r\n'],
  ['plain texts over two Windows lines', 'a\r\nb\r\nc', { old_text: 'a\nb', new_text: '1\n2\n3' }, '1\r\n2\r\n3\r\nc'],
  ['half of the text with Windows line ends', 'a\r\nb\r\n', { old_text: 'a\r\nb', new_text: 'a\nB' }, 'a\r\nB\r\n'],
  ['Windows texts in a plain file', 'a\nb\n', { old_text: 'a\r\nb', new_text: 'a\r\nB\r\nC' }, 'a\nB\nC\n'],
  ['a new last line without a line end behind it', 'a\r\nb', { old_text: 'b', new_text: 'b\nc' }, 'a\r\nb\r\nc'],
  ['a line end alone', 'a\r\nb\r\n', { old_text: '\nb', new_text: '\nc\nb' }, 'a\r\nc\r\nb\r\n'],
  ['the Windows part of a mixed file', 'a\nb\r\nc\r\n', { old_text: 'b', new_text: 'b\nB' }, 'a\nb\r\nB\r\nc\r\n'],
  ['the plain part of a mixed file', 'a\nb\r\n', { old_text: 'a', new_text: 'a\nA' }, 'a\nA\nb\r\n'],
  [
    'both parts of a mixed file',
    'x\nx\r\n',
    { old_text: 'x', new_text: '1\n2', replace_all: true },
    '1\n2\n1\r\n2\r\n',
  ],
  ['line ends themselves', 'a\r\nb\r\n', { old_text: 'a\r\n', new_text: 'a\n' }, 'a\nb\r\n'],
  ['a file without a line end', 'a', { old_text: 'a', new_text: 'a\r\nb\n' }, 'a\r\nb\n'],
  ['a carriage return that ends no line', 'a\rb\r\n', { old_text: 'a\rb', new_text: 'c\rd\ne' }, 'c\rd\r\ne\r\n'],
];

test.each(LINE_ENDS)("keeps the file's own line ends: %s", async (_, before, input, expected) => {
  expect((await edit(before, input)).after.toString()).toBe(expected);
});

test('a repeated attempt knows its work whatever the line ends', async () => {
  const input = { old_text: 'a', new_text: 'a\nA' };
  const { after, text } = await edit('a\r\nA\r\nb\r\n', input, { attempt: 2 });
  expect(text).toContain('was already changed');
  expect(after.toString()).toBe('a\r\nA\r\nb\r\n');
});

test('an edit makes no line end of another kind, and changes nothing but its place', () => {
  const line = fc.stringMatching(/^[a-c]{0,3}$/);
  const lines = fc.array(line, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.constantFrom('\n', '\r\n'), lines, lines, fc.nat(), (lineEnd, before, written, place) => {
      const at = place % before.length;
      const marked = before.with(at, `<${before[at]}>`).join(lineEnd);
      const result = replaceText({
        before: Buffer.from(`${marked}${lineEnd}`),
        oldText: `<${before[at]}>`,
        newText: written.join('\n'),
        all: false,
        attempt: 1,
      });
      const expected = before.with(at, written.join(lineEnd)).join(lineEnd);
      expect(result.kind === 'replaced' && Buffer.from(result.after).toString()).toBe(`${expected}${lineEnd}`);
    }),
  );
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
