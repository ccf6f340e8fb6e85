import { expect, test } from 'vitest';
import { globTest } from '../../src/tools/files/walk-files.ts';

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
