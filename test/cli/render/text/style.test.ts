import { expect, test } from 'vitest';
import { COLOR_STYLE } from '../../../../src/cli/render/text/style.ts';

test.each([
  ['red', 31],
  ['green', 32],
  ['yellow', 33],
  ['cyan', 36],
] as const)('%s within bold text ends with its words', (color, code) => {
  const text = COLOR_STYLE.bold(`${COLOR_STYLE[color]('words')} go on`);
  expect(text).toBe(`\u001B[1m\u001B[${code}mwords\u001B[39m go on\u001B[22m`);
});
