import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayWidth, truncate, wrapWords } from '../../../../src/cli/render/text/text-width.ts';

const anyText = fc.string({
  unit: fc.constantFrom('a', ' ', 'é', '日', '🚀', '한', '\u0301', '…', '\n'),
  maxLength: 60,
});
const oneLine = anyText.map((text) => text.replaceAll('\n', ''));

describe('cutting', () => {
  test('never passes the columns and never cuts inside a character', () => {
    fc.assert(
      fc.property(oneLine, fc.integer({ min: 1, max: 30 }), (text, columns) => {
        expect(displayWidth(truncate(text, columns))).toBeLessThanOrEqual(columns);
        expect(text.startsWith(truncate(text, columns).replace(/…$/u, ''))).toBe(true);
      }),
    );
  });

  test('leaves what fits and marks what was cut', () => {
    expect(truncate('日本語', 6)).toBe('日本語');
    expect(truncate('日本語', 5)).toBe('日本…');
    expect(truncate('abcdef', 4)).toBe('abc…');
    expect(truncate('x'.repeat(1_000_000), 3)).toBe('xx…');
    expect(truncate('abc', 0)).toBe('');
  });

  test('rows hold every word, each within the columns', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 30 }), (text, columns) => {
        const rows = wrapWords(text, columns);
        expect(rows.every((row) => displayWidth(row) <= columns)).toBe(true);
        expect(rows.join('').replaceAll(' ', '')).toBe(text.replaceAll(/[ \n]/gu, ''));
      }),
    );
  });

  test('words stay whole where they can', () => {
    expect(wrapWords('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
    expect(wrapWords('a verylongword b', 6)).toEqual(['a very', 'longwo', 'rd b']);
    expect(wrapWords('one\n\ntwo', 10)).toEqual(['one', '', 'two']);
  });
});
