import { expect, test } from 'vitest';
import { growthOf } from '../../../dev/bench/statistics.ts';

test('growth is the end of a series over its beginning, without the first value and whatever one value does', () => {
  expect(growthOf([900, 100, 100, 100, 100, 100, 100, 100, 100, 100])).toBe(1);
  expect(growthOf([10, 100, 100, 500, 100, 100, 100, 150, 900, 150])).toBe(1.5);
  expect(growthOf([10, 100, 110, 120, 130, 140, 150, 160, 170, 180])).toBeCloseTo(170 / 110);
});

test('one value says nothing of growth', () => {
  expect(() => growthOf([100])).toThrow(RangeError);
});
