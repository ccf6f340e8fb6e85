import { expect, test } from 'vitest';
import { parseOptions } from '../../soak/options.ts';
import { createRandom } from '../../soak/random.ts';

test('a seed always chooses the same', () => {
  const draw = (seed: number): number[] => {
    const random = createRandom(seed);
    return Array.from({ length: 5 }, () => random.between(1, 1_000));
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('a crash point that does not exist is refused', () => {
  expect(parseOptions(['--at', 'commitCompaction:after-write'])).toMatchObject({ at: 'commitCompaction:after-write' });
  expect(() => parseOptions(['--at', 'commitCompaction:before-write'])).toThrow(/no such point/);
  expect(() => parseOptions(['--kills', '0'])).toThrow(/whole number from 1/);
});
