import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import {
  describeError,
  failureForTemporal,
  retryableFailure,
  waitFailure,
} from '../../src/activities/runtime/failures.ts';
import { PinnedTextMissing } from '../../src/context/view/project-view.ts';
import { StoreError } from '../../src/store/database/errors.ts';

/** Counts nothing: an error that is counted fails the test. */
const none = () => Promise.reject(new Error('counted'));
const after = (failures: number) => () => Promise.resolve(failures);

test('an error that is not ours keeps name and code; its message, which may quote a row, stays out of the history', async () => {
  const error = Object.assign(new TypeError('Failing row contains (planted)'), { code: '23505' });
  const failure = await failureForTemporal(error, after(1));
  expect(failure).toMatchObject({ type: 'TypeError', message: 'unexpected TypeError (23505)', nonRetryable: false });
});

test('what is counted is tried again after 1, 2, 4, 8, 16, 16 … seconds, and the tenth failure is the last, with one code', async () => {
  const told = await Promise.all(
    [1, 2, 5, 9, 10].map((failures) => failureForTemporal(new TypeError('planted'), after(failures))),
  );
  expect(told.slice(0, 4).map((failure) => (failure as ApplicationFailure).nextRetryDelay)).toEqual([
    1_000, 2_000, 16_000, 16_000,
  ]);
  const message = 'failed 10 times, at last: unexpected TypeError';
  expect(told[4]).toMatchObject({ type: 'repeated_failure', message, nonRetryable: true });
});

test('an outage of Postgres is tried again without end, also when it keeps a failure from being counted', async () => {
  const outage = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(await failureForTemporal(outage, none)).toMatchObject({ nonRetryable: false, nextRetryDelay: 1_000 });
  const uncounted = await failureForTemporal(new TypeError('planted'), () => Promise.reject(outage));
  expect(uncounted).toMatchObject({ type: 'TypeError', nonRetryable: false, nextRetryDelay: 1_000 });
});

test.each([
  ['Store.stale_epoch', new StoreError('stale_epoch', 'epoch 3 is over')],
  ['pinned_text_missing', new PinnedTextMissing(['rule 1 of 2'])],
])('%s, which no retry can mend, is not retried', async (type, error) => {
  expect(await failureForTemporal(error, none)).toMatchObject({ type, nonRetryable: true });
});

test('a failure that cannot be counted because the turn was taken over ends the activity', async () => {
  const replaced = () => Promise.reject(new StoreError('stale_epoch', 'epoch 3 is over'));
  const failure = await failureForTemporal(new TypeError('planted'), replaced);
  expect(failure).toMatchObject({ type: 'Store.stale_epoch', nonRetryable: true });
});

test('a cancellation, or a failure that says itself when to try again, passes unchanged and uncounted', async () => {
  const aborted = Object.assign(new Error('aborted'), { name: 'AbortError' });
  const asked = retryableFailure('ModelCall.outage', 'model not available', 4_000);
  for (const error of [new CancelledFailure('CANCELLED'), aborted, asked, waitFailure('waits', 60_000)])
    expect(await failureForTemporal(error, none)).toBe(error);
});

test('no delay is 0, with which Temporal would fail the activity', () => {
  expect(waitFailure('waits', 0)).toMatchObject({ nextRetryDelay: 1 });
});

test('what is logged of an error has its frames and not its message', () => {
  const described = describeError(new RangeError('planted'));
  expect(described.name).toBe('RangeError');
  expect(described.frames).toMatch(/^\s+at /);
  expect(JSON.stringify(described)).not.toContain('planted');
});
