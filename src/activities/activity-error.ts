import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { CompleteAsyncError } from '@temporalio/activity';
import { PinnedTextMissing } from '../context/check-pinned.ts';
import { StoreError } from '../store/errors.ts';

/**
 * A failure that Temporal retries after a delay.
 * @param message codes and counts only: it is stored in the history.
 * @param delayMilliseconds the provider's own wish; without it the retry policy's backoff counts.
 */
export function retryableFailure(type: string, message: string, delayMilliseconds?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    ...(delayMilliseconds !== undefined && { nextRetryDelay: delayMilliseconds }),
  });
}

/** Whether the error says that the activity was cancelled; those pass through unchanged, or a cancel would become a retry. */
export function isCancellationError(error: unknown): boolean {
  return error instanceof CancelledFailure || (error instanceof Error && error.name === 'AbortError');
}

/**
 * What Temporal may keep of an error. Messages of drivers and of Node quote values (a row, a
 * path, a piece of JSON), so of an error that is not ours only name and code are passed on.
 */
export function failureForHistory(error: unknown): unknown {
  if (error instanceof ApplicationFailure || error instanceof CompleteAsyncError || isCancellationError(error)) {
    return error;
  }
  if (error instanceof StoreError) {
    return ApplicationFailure.create({
      type: `Store.${error.code}`,
      message: error.message,
      nonRetryable: error.permanent,
    });
  }
  // The same projection would lack the same: no retry mends it.
  if (error instanceof PinnedTextMissing) {
    return ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: true });
  }
  const { name, code } = describeError(error);
  return ApplicationFailure.create({
    type: name,
    message: code === undefined ? `unexpected ${name}` : `unexpected ${name} (${code})`,
  });
}

/** Name, code and stack frames of any thrown value, without its message. */
export function describeError(error: unknown): { name: string; code: string | undefined; frames: string } {
  if (!(error instanceof Error)) return { name: typeof error, code: undefined, frames: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { name: error.name, code, frames: frames.slice(0, 12).join('\n') };
}
