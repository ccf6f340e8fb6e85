import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/guarantees.md`, 'utf8');

interface NamedTest {
  readonly number: number;
  readonly file: string;
  readonly title: string;
}

const NAMED: readonly NamedTest[] = [...PAGE.matchAll(/^(\d+)\. `(test\/[^`]+\.test\.ts)`: (.+)$/gmu)].map(
  ([, number, file = '', title = '']) => ({ number: Number(number), file, title }),
);

/** Cells of the table's rows, without its head. */
const ROWS = PAGE.split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test('every row of the table says what happens and what is lost, and names a test that exists or argues', () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(20);
  const numbers = new Set(NAMED.map(({ number }) => number));
  for (const row of ROWS) {
    const [fails, happens, lost, tests = ''] = row;
    expect(
      [fails, happens, lost].every((cell) => cell !== undefined && cell !== ''),
      fails,
    ).toBe(true);
    const named = tests
      .split(', ')
      .filter((text) => text !== '')
      .map(Number);
    if (named.length === 0) expect(row.join(' '), fails).toMatch(/argued/iu);
    for (const number of named) expect(numbers, `${fails}: test ${number}`).toContain(number);
  }
});

test('every test that the page names exists', () => {
  const missing = NAMED.filter(({ file, title }) => {
    const source = existsSync(`${ROOT}${file}`) ? readFileSync(`${ROOT}${file}`, 'utf8') : '';
    const texts = [...source.matchAll(/(['"`])((?:\\.|(?!\1).)+)\1/gu)];
    return !texts.some(([, , text = '']) => text.replaceAll(/\\(['"`])/gu, '$1') === title);
  });
  expect(missing).toEqual([]);
});
