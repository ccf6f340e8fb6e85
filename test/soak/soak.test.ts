import { expect, test } from 'vitest';
import { parseOptions } from '../../soak/options.ts';
import { countRepeated, paidTooOften, unexplained } from '../../soak/check.ts';
import { createRandom, seedFor } from '../../soak/random.ts';

test('a seed always chooses the same', () => {
  const draw = (seed: number): number[] => {
    const random = createRandom(seed);
    return Array.from({ length: 5 }, () => random.between(1, 1_000));
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('a crash point that does not exist, or that a soak does not reach, is refused', () => {
  expect(parseOptions(['--at', 'commitCompaction:after-write'])).toMatchObject({ at: 'commitCompaction:after-write' });
  expect(() => parseOptions(['--at', 'commitCompaction:before-write'])).toThrow(/no such point/);
  expect(() => parseOptions(['--at', 'changeBranch:after-write'])).toThrow(/reaches/);
  expect(() => parseOptions(['--kills', '0'])).toThrow(/whole number from 1/);
});

test('each purpose and each strike has a seed of its own', () => {
  const seeds = [seedFor(7, 'users'), seedFor(7, 'strike', 1, 0), seedFor(7, 'strike', 10, 0), seedFor(8, 'users')];
  expect(new Set(seeds).size).toBe(4);
  expect(seedFor(7, 'strike', 1, 0)).toBe(seeds[1]);
});

const row = { key: 'turn:3', conversationId: 'c' };
const strikes = [[row, row], [], [row]];

test('a tool call that is unknown more often than strikes met it is a violation', () => {
  expect(unexplained('unknown', [{ key: 'turn:3', times: 2 }], strikes)).toEqual([]);
  expect(unexplained('unknown', [{ key: 'turn:3', times: 3 }], strikes)).toMatchObject([{ name: 'unknown' }]);
  expect(unexplained('unknown', [{ key: 'turn:4', times: 1 }], strikes)).toHaveLength(1);
});

test('model calls that were paid again more often than strikes met any are a violation', () => {
  const counted = countRepeated([{ key: 'turn:3', tries: 3 }], strikes);
  expect(counted).toEqual({ calls: 1, extraTries: 2, met: 2, list: [{ key: 'turn:3', tries: 3, met: 2 }] });
  expect(paidTooOften(counted)).toEqual([]);
  const once = { key: 'turn:4', tries: 2 };
  const more = countRepeated([{ key: 'turn:3', tries: 3 }, once], strikes);
  expect(more.list).toContainEqual({ ...once, met: 0 });
  expect(paidTooOften(more)).toEqual([
    { name: 'model_calls_paid_again', found: '3 tries more; strikes met 2 model calls' },
  ]);
});
