import { expect, test } from 'vitest';
import { allTargetsMet, checkedExitCode } from '../../../dev/bench/figures.ts';
import type { Figure } from '../../../dev/bench/figures.ts';
import { summarize } from '../../../dev/bench/statistics.ts';

const figure = (value: number, target?: Figure['target']): Figure => ({
  benchmark: 'steps',
  name: 'ratio',
  unit: '×',
  ...summarize([value]),
  ...(target !== undefined && { target }),
});

test('a missed target gives exit code 1 when targets are checked, and only then', () => {
  const met = [figure(1.5, { atMost: 1.5 }), figure(0.6, { atLeast: 0.6 }), figure(99)];
  expect(checkedExitCode(true, allTargetsMet(met))).toBe(0);
  for (const missed of [figure(1.51, { atMost: 1.5 }), figure(0.59, { atLeast: 0.6 })]) {
    expect(checkedExitCode(true, allTargetsMet([...met, missed]))).toBe(1);
    expect(checkedExitCode(false, allTargetsMet([...met, missed]))).toBe(0);
  }
  expect(checkedExitCode(true, allTargetsMet([]))).toBe(1);
});
