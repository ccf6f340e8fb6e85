import { expect, test } from 'vitest';
import { SUMMARY_RETRIES, rateLimitDelayMilliseconds, retryDelayMilliseconds } from '../../src/turn/limits.ts';

test('W25 the five retries of a summary wait 1, 2, 4, 8 and 16 seconds', () => {
  const waits = Array.from({ length: SUMMARY_RETRIES }, (_, index) => retryDelayMilliseconds(index + 1));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
});

test('later retries wait no longer than 16 seconds', () => {
  expect(retryDelayMilliseconds(40)).toBe(16_000);
});

test('a rate limit is waited for as long as the provider asks, and longer when it comes again and again', () => {
  expect([1, 2, 3, 6].map((times) => rateLimitDelayMilliseconds(6, times))).toEqual([6, 1_000, 2_000, 16_000]);
  expect([1, 6].map((times) => rateLimitDelayMilliseconds(60_000, times))).toEqual([60_000, 60_000]);
  expect([1, 2, 3].map((times) => rateLimitDelayMilliseconds(undefined, times))).toEqual([1_000, 2_000, 4_000]);
});
