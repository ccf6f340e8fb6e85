import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolWaves } from '../../src/workflows/steps.ts';

const shared = { exclusive: false };
const exclusive = { exclusive: true };

test('calls without an exclusive one share a wave', () => {
  expect(toolWaves([shared, shared, shared])).toEqual([[0, 1, 2]]);
});

test('an exclusive call is a wave of its own, in order with what stands before and after it', () => {
  expect(toolWaves([shared, shared, exclusive, shared, exclusive, exclusive])).toEqual([[0, 1], [2], [3], [4], [5]]);
});

test('no calls make no wave', () => {
  expect(toolWaves([])).toEqual([]);
});

test('every call is in exactly one wave and order is kept', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ exclusive: fc.boolean() })), (calls) => {
      const waves = toolWaves(calls);
      expect(waves.flat()).toEqual(calls.map((_, index) => index));
      for (const wave of waves) {
        if (wave.length > 1) expect(wave.some((index) => calls[index]?.exclusive)).toBe(false);
      }
    }),
  );
});
