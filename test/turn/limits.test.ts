import { expect, test } from 'vitest';
import { SUMMARY_RETRIES, delayAfterRefusal, retryDelayMilliseconds, spreadDelay } from '../../src/turn/limits.ts';

test('W25 the five retries of a summary wait 1, 2, 4, 8 and 16 seconds', () => {
  const waits = Array.from({ length: SUMMARY_RETRIES }, (_, index) => retryDelayMilliseconds(index + 1));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
});

test('later retries wait no longer than 16 seconds', () => {
  expect(retryDelayMilliseconds(40)).toBe(16_000);
});

test('a rate limit is waited for as long as the provider asks, and longer when it comes again and again', () => {
  expect([1, 2, 3, 6].map((times) => delayAfterRefusal(6, times))).toEqual([6, 1_000, 2_000, 16_000]);
  expect([1, 6].map((times) => delayAfterRefusal(60_000, times))).toEqual([60_000, 60_000]);
  expect([1, 2, 3].map((times) => delayAfterRefusal(undefined, times))).toEqual([1_000, 2_000, 4_000]);
});

test('calls that were told the same wait end it one after another, none before it is over', () => {
  const ends = (wait: number): number[] => [0, 0.25, 0.5, 0.75, 1].map((random) => spreadDelay(wait, random));
  expect(ends(20_000)).toEqual([20_000, 20_500, 21_000, 21_500, 22_000]);
  // Over a tenth of it, and five seconds at most.
  expect(ends(600_000)).toEqual([600_000, 601_250, 602_500, 603_750, 605_000]);
});
