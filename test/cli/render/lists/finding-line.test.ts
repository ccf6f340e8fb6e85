import { expect, test } from 'vitest';
import { findingLine } from '../../../../src/cli/render/lists/finding-line.ts';
import { MARKED_STYLE } from '../marked-style.ts';

test.each([
  ['works', '+works      +'],
  ['limited', '^limited    ^'],
  ['missing', '~missing    ~'],
  ['fails', '!fails      !'],
  ['not_checked', '~not checked~'],
] as const)('what %s is coloured as that', (status, shown) => {
  const line = findingLine({ capability: 'streaming', status, detail: 'two\nlines' }, MARKED_STYLE);
  expect(line).toMatch(/^streaming +/u);
  expect(line.endsWith(`  ${shown}  two lines`)).toBe(true);
});
