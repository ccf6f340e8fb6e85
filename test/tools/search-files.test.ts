import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { searchFiles } from '../../src/tools/builtin/search-files.ts';
import { call, temporaryDirectory } from './support/tool-context.ts';
import { globTest } from '../../src/tools/files/walk-files.ts';

async function project(): Promise<{ readonly workspace: string }> {
  const workspace = await temporaryDirectory();
  await mkdir(join(workspace, 'src'));
  await mkdir(join(workspace, 'node_modules'));
  await writeFile(join(workspace, 'src', 'a.ts'), 'const one = 1;\r\n\nconst Two = 2;\n');
  await writeFile(join(workspace, 'b.md'), 'one\nconst\n');
  await writeFile(join(workspace, 'image.bin'), Buffer.concat([Buffer.from('const'), Buffer.from([0])]));
  await writeFile(join(workspace, 'node_modules', 'c.ts'), 'const three = 3;\n');
  return { workspace };
}

const search = (context: { readonly workspace: string; readonly resultLimit?: number }, input: object) =>
  call(searchFiles, { input, context });

test('shows path, line number and line of every match', async () => {
  const { text } = await search(await project(), { pattern: '^const \\w+' });
  expect(text).toBe(
    'src/a.ts:1: const one = 1;\nsrc/a.ts:3: const Two = 2;\n' +
      '[2 matching lines, 3 files searched; 1 not searched (binary or not readable)]',
  );
});

test('glob, path and ignore_case narrow or widen the search', async () => {
  const context = await project();
  expect((await search(context, { pattern: 'const', glob: '*.md' })).text).toContain('b.md:2: const\n[1 matching');
  expect((await search(context, { pattern: 'two', path: 'src', ignore_case: true })).text).toContain('src/a.ts:3:');
  expect((await search(context, { pattern: 'two', path: 'src' })).text).toBe('[nothing matches "two" in 1 file]');
  expect((await search(context, { pattern: 'three', path: 'node_modules' })).text).toContain('node_modules/c.ts:1:');
  expect((await search(context, { pattern: 'one', path: 'src/a.ts' })).text).toContain('src/a.ts:1: const one = 1;');
});

test('a single file that cannot be read is refused with its own error', async () => {
  const { workspace } = await project();
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  const { isError, text } = await search({ workspace }, { pattern: 'one', path: 'pipe' });
  expect([isError, text]).toEqual([true, expect.stringContaining('pipe')]);
});

test('says that there is more than the limit', async () => {
  const { text } = await search(await project(), { pattern: 'const', limit: 1 });
  expect(text).toMatch(/^b\.md:2: const\n\[1 matching line, .*there are more: narrow/);
});

test('exactly as many matches as the limit are not "more"', async () => {
  const { text } = await search(await project(), { pattern: '^const ', limit: 2 });
  expect(text).not.toContain('there are more');
});

test('stays within the result limit', async () => {
  const context = { ...(await project()), resultLimit: 2_000 };
  await writeFile(join(context.workspace, 'many.txt'), 'needle in a line of some length\n'.repeat(1_000));
  const { text } = await search(context, { pattern: 'needle', limit: 1_000 });
  expect(text.length).toBeLessThanOrEqual(2_000);
  expect(text).toContain('there are more');
});

test('of a long line only the part around the match is shown', async () => {
  const context = await project();
  await writeFile(join(context.workspace, 'long.txt'), `${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}\n`);
  const { text } = await search(context, { pattern: 'needle' });
  const [line = ''] = text.split('\n');
  expect(line).toMatch(/^long\.txt:1: …x+needley+…$/);
  expect(line.length).toBeLessThan(300);
});

test('line numbers are right behind the first chunk and in a line without end', async () => {
  const context = await project();
  await writeFile(join(context.workspace, 'big.txt'), `${'filler line\n'.repeat(100_000)}needle\n`);
  expect((await search(context, { pattern: '^needle$' })).text).toContain('big.txt:100001: needle');
  await writeFile(join(context.workspace, 'one-line.txt'), `${'z'.repeat(3_000_000)}pin`);
  expect((await search(context, { pattern: 'pin$' })).text).toContain('one-line.txt:1: …');
});

test('each line is found once, however long it is', async () => {
  const context = await project();
  await writeFile(join(context.workspace, 'one-line.txt'), 'pin '.repeat(100_000));
  const { text } = await search(context, { pattern: 'pin', path: 'one-line.txt' });
  expect(text).toMatch(/^one-line\.txt:1: pin .*…\n\[1 matching line,/);
});

test('a pattern that is not valid says why, and how to find it literally', async () => {
  const outcome = await search(await project(), { pattern: 'foo(' });
  expect(outcome.isError).toBe(true);
  expect(outcome.text).toContain('missing closing ): `foo(`');
  expect(outcome.text).toContain('Put a \\ before');
});

test.each(['(\\w)\\1', '^(?=x)', '[', 'a{1000}{1000}', '(some words|){99}'])(
  'a pattern that no linear search can find is an error that the model can read: %s',
  async (pattern) => {
    const outcome = await search(await project(), { pattern });
    expect(outcome).toMatchObject({ isError: true, ending: 'tool_failed' });
    expect(outcome.text).toMatch(/^The pattern (cannot be searched for|is too large)/);
  },
);

test.each(['^(a+)+$', '(a|a)*$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*)*x', '(?:a?){40}a{40}'])(
  'a pattern that would make an engine backtrack without end is searched for like any other: %s',
  async (pattern) => {
    const context = await project();
    await writeFile(join(context.workspace, 'trap.txt'), `${'a'.repeat(5_000)}!\n`);
    const { isError, text } = await search(context, { pattern, path: 'trap.txt' });
    expect({ isError, text }).toMatchObject({ isError: false, text: expect.stringMatching(/1 file/) });
  },
);

test.each([
  ['\\d{3}', 'n 123'],
  ['\\bword\\b', 'a word.'],
  ['(?<!not )ready', 'is ready'],
  ['(?<year>\\d+)-', '2026-'],
  ['[^\\s"]+\\/', 'path/'],
  ['\\u00e9|\\u{1F600}', 'é'],
  ['interface \\w+ {', 'interface A {'],
  ['\\p{Lu}', 'É'],
])('what people write in JavaScript is understood: %s', async (pattern, line) => {
  const workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'file.txt'), `${line}\n`);
  expect((await search({ workspace }, { pattern })).text).toContain(`file.txt:1: ${line}`);
});

const CASES: readonly (readonly [glob: string, matches: readonly string[], others: readonly string[]])[] = [
  ['*.ts', ['a.ts', 'src/a.ts', '.ts'], ['a.tsx', 'a.ts/b', 'ats']],
  ['src/*.ts', ['src/a.ts'], ['src/b/a.ts', 'x/src/a.ts', 'a.ts']],
  ['/a.ts', ['a.ts'], ['src/a.ts']],
  ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['lib/a.ts']],
  ['**/test/**', ['test/a', 'x/test/b/c'], ['tests/a', 'a/test']],
  ['src/**', ['src/a', 'src/b/c'], ['src', 'source/a']],
  ['*.{ts,tsx}', ['a.ts', 'b/a.tsx'], ['a.js', 'a.ts,tsx']],
  ['file-?.md', ['file-1.md'], ['file-10.md', 'file-/.md']],
  ['[a-c].md', ['a.md', 'x/c.md'], ['d.md', '-.md']],
  ['[!a-c].md', ['d.md'], ['a.md']],
  ['a+b(1).md', ['a+b(1).md'], ['aab1.md', 'a+b1.md']],
  ['\\*.md', ['*.md'], ['a.md']],
  ['{src,test}/{a,b*}.{ts,md}', ['src/a.ts', 'test/bcd.md'], ['src/c.ts', 'src/a.js']],
  ['{a,{b,c}d}.md', ['a.md', 'bd.md', 'cd.md'], ['d.md', 'ad.md']],
  ['a,b.md', ['a,b.md'], ['a', 'b.md']],
  ['[x.md', ['[x.md'], ['x.md']],
  ['[a-].md', ['a.md', '-.md'], ['b.md']],
  ['[a-c', ['[a-c'], ['b']],
  ['[]a].md', ['].md', 'a.md'], ['[]a].md']],
  ['{a\\,b,c}.md', ['a,b.md', 'c.md'], ['a.md', 'b.md']],
  ['a\\', ['a\\'], ['a']],
];

test.each(CASES)('%s', (glob, matches, others) => {
  const matchesGlob = globTest(glob);
  expect(matches.filter((path) => !matchesGlob(path))).toEqual([]);
  expect(others.filter((path) => matchesGlob(path))).toEqual([]);
});

test('a brace without end is refused with its glob', () => {
  expect(() => globTest('*.{ts')).toThrow('The glob *.{ts has a "{" without "}".');
});

test('many stars in a row do not backtrack without end', () => {
  expect(globTest(`${'**/a/'.repeat(50)}x`)('a/'.repeat(1_000))).toBe(false);
  expect(globTest(`${'*a'.repeat(100)}x`)('a'.repeat(4_000))).toBe(false);
});
