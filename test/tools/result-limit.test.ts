import { expect, test } from 'vitest';
import { resultLimitFor } from '../../src/tools/runtime/compose-result.ts';

test('scales with the window between 2,000 and 100,000 characters', () => {
  expect([1_000, 8_192, 32_768, 200_000, 1_000_000].map(resultLimitFor)).toEqual([
    2_000, 3_072, 12_288, 75_000, 100_000,
  ]);
});
