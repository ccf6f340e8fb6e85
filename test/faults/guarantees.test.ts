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

/** `- **What fails.** What happens. Lost: what. Tests 1, 2.` */
const ITEMS = PAGE.split(/\n+(?=- |#)/u)
  .filter((text) => text.startsWith('- **'))
  .map((text) => text.replaceAll(/\s+/gu, ' ').trim());

test('every item says what happens and what is lost, and names a test that exists or argues', () => {
  expect(ITEMS.length).toBeGreaterThanOrEqual(36);
  const numbers = new Set(NAMED.map(({ number }) => number));
  for (const item of ITEMS) {
    expect(item).toMatch(/^- \*\*.+\.\*\* .+\. Lost: .+\.$/u);
    const named = / Tests? ([\d, ]+)\.$/u.exec(item)?.[1]?.split(', ').map(Number) ?? [];
    if (named.length === 0) expect(item).toMatch(/\*\* Argued: /u);
    for (const number of named) expect(numbers, item).toContain(number);
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
