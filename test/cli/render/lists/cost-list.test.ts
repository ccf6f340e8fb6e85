import { expect, test } from 'vitest';
import { costListLines } from '../../../../src/cli/render/lists/cost-list.ts';
import { PLAIN_STYLE } from '../../../../src/cli/render/text/style.ts';

const row = {
  name: 'default',
  calls: 3,
  input: 100,
  cacheRead: 40,
  cacheWrite: 0,
  output: 9,
  cost: 0.5,
  knownCost: 0.5,
  callsOfUnknownCost: 0,
  repeatedCalls: 0,
  repeatedCost: 0,
};

test('calls that were paid twice have a column where there are any', () => {
  const lines = (repeatedCalls: number) =>
    costListLines([{ ...row, repeatedCalls, repeatedCost: 0.25 }], { by: 'agent', columns: null, style: PLAIN_STYLE });
  expect(lines(0).join('\n')).not.toContain('not kept');
  expect(lines(1)).toEqual([expect.stringContaining('not kept'), expect.stringContaining('1, $0.25')]);
});
