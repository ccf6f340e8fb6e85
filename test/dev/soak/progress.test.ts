import { expect, test } from 'vitest';
import { advance, isStuck, STUCK_LOOKS } from '../../../dev/soak/progress.ts';
import type { Progress, Seen } from '../../../dev/soak/progress.ts';

/** Judges looks one after the other. */
function judge(looks: readonly Seen[]): boolean {
  const last = looks.reduce<Progress | undefined>((before, seen) => advance(before, seen), undefined);
  return last !== undefined && isStuck(last);
}

/** An hour of looks, one a second. */
function hour(log: (second: number) => number, attempts: (second: number) => number): Seen[] {
  return Array.from({ length: 3_600 }, (_, second) => ({ log: `${log(second)}`, attempts: `${attempts(second)}` }));
}

test('a turn with a new entry now and then is never stuck, however long it takes', () => {
  expect(
    judge(
      hour(
        (second) => Math.floor(second / 59),
        () => 1,
      ),
    ),
  ).toBe(false);
});

test('a new attempt counts like an entry', () => {
  expect(
    judge(
      hour(
        () => 1,
        (second) => Math.floor(second / 59),
      ),
    ),
  ).toBe(false);
});

test('a turn that shows nothing new for a minute is stuck, and not a look earlier', () => {
  const still = (looks: number) => Array.from({ length: looks }, () => ({ log: '7', attempts: 'callModel 1' }));
  const moving = { log: '6', attempts: 'callModel 1' };
  expect(judge([moving, ...still(STUCK_LOOKS)])).toBe(false);
  expect(judge([moving, ...still(STUCK_LOOKS + 1)])).toBe(true);
  expect(judge([moving, ...still(STUCK_LOOKS + 1), { log: '8', attempts: '' }])).toBe(false);
});

test('an activity that is tried again and again without an entry is stuck', () => {
  expect(
    judge(
      hour(
        () => 1,
        (second) => second,
      ),
    ),
  ).toBe(true);
  expect(
    judge(
      hour(
        (second) => Math.floor(second / 90),
        (second) => second,
      ),
    ),
  ).toBe(false);
});
