import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import {
  describeError,
  failureForHistory,
  retryableFailure,
  withRetryDelay,
} from '../../src/activities/runtime/activity-error.ts';
import { StoreError } from '../../src/store/database/errors.ts';

test('an error that is not ours keeps name and code; its message, which may quote a row, stays out of the history', () => {
  const error = Object.assign(new TypeError('Failing row contains (planted)'), { code: '23505' });
  const failure = failureForHistory(error) as ApplicationFailure;
  expect(failure).toMatchObject({ type: 'TypeError', message: 'unexpected TypeError (23505)', nonRetryable: false });
});

test('a refusal of the store that no retry can mend is not retried', () => {
  const failure = failureForHistory(new StoreError('stale_epoch', 'epoch 3 is over'));
  expect(failure).toMatchObject({ type: 'Store.stale_epoch', nonRetryable: true });
});

test('what fails without a wait of its own waits longer each time, up to 10 s', () => {
  const failure = failureForHistory(new TypeError('planted'));
  const waits = [1, 2, 3, 6, 7, 40].map(
    (attempt) => (withRetryDelay(failure, attempt) as ApplicationFailure).nextRetryDelay,
  );
  expect(waits).toEqual([200, 400, 800, 6_400, 10_000, 10_000]);
  expect(withRetryDelay(failure, 3)).toMatchObject({ type: 'TypeError', message: 'unexpected TypeError' });
});

test('a wait that a failure names stays, and what no retry mends gets none', () => {
  const asked = retryableFailure('ModelCall.outage', 'model not available', 4_000);
  expect(withRetryDelay(asked, 7)).toBe(asked);
  const final = failureForHistory(new StoreError('stale_epoch', 'epoch 3 is over'));
  expect(withRetryDelay(final, 7)).toBe(final);
  const cancelled = new CancelledFailure('CANCELLED');
  expect(withRetryDelay(cancelled, 1)).toBe(cancelled);
});

test('cancellation passes unchanged, or a stop would become a retry', () => {
  const cancelled = new CancelledFailure('CANCELLED');
  const aborted = Object.assign(new Error('aborted'), { name: 'AbortError' });
  expect(failureForHistory(cancelled)).toBe(cancelled);
  expect(failureForHistory(aborted)).toBe(aborted);
});

test('what is logged of an error has its frames and not its message', () => {
  const described = describeError(new RangeError('planted'));
  expect(described.name).toBe('RangeError');
  expect(described.frames).toMatch(/^\s+at /);
  expect(JSON.stringify(described)).not.toContain('planted');
});
