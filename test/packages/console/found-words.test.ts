import { expect, test } from 'vitest';
import { densestPlace, wordsOf } from '../../../packages/console/src/text/found-words.ts';

test('of a long passage the place is shown where most of the words are said together', () => {
  const lines = Array.from({ length: 20 }, (_, line) => `09:${line + 30} gateway-3 answered in ${line}3 ms`);
  lines[15] = 'The keeper of gateway 3 is Amara.';
  const text = lines.join('\n');
  const words = wordsOf(['keeper', 'gateway', '3']);
  expect(text.slice(densestPlace(text, words))).toMatch(/^(?:.*\n){0,4}The keeper of gateway 3/u);
  // A number is no part of a longer one.
  expect('03 and 3'.match(words)).toEqual(['3']);
  expect(densestPlace('herons', words)).toBe(-1);
});
