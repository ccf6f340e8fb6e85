import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { CompleteAsyncError } from '@temporalio/activity';
import { PinnedTextMissing } from '../../context/plan/check-pinned.ts';
import { StoreError } from '../../store/database/errors.ts';

/** Waits after failures that name none of their own: 200 ms, twice as long each time, up to 10 s. Milliseconds. */
const FIRST_RETRY_DELAY = 200;
const LONGEST_RETRY_DELAY = 10_000;

/**
 * A failure that Temporal retries after a delay.
 * @param message codes and counts only: it is stored in the history.
 * @param delayMilliseconds the provider's own wish; without it `withRetryDelay` decides.
 */
export function retryableFailure(type: string, message: string, delayMilliseconds?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    ...(delayMilliseconds !== undefined && { nextRetryDelay: delayMilliseconds }),
  });
}

/**
 * The failure with a wait before its retry that grows with the attempts. The retry policy's own backoff is for what fails
 * without a word, a worker that dies: that must be overcome at once, however often the activity was tried before.
 * @param attempt the one that failed, from 1
 */
export function withRetryDelay(failure: unknown, attempt: number): unknown {
  if (!(failure instanceof ApplicationFailure) || failure.nonRetryable === true) return failure;
  if (failure.nextRetryDelay !== undefined && failure.nextRetryDelay !== null) return failure;
  return ApplicationFailure.create({
    message: failure.message,
    nextRetryDelay: Math.min(FIRST_RETRY_DELAY * 2 ** (attempt - 1), LONGEST_RETRY_DELAY),
    ...(typeof failure.type === 'string' && { type: failure.type }),
    ...(Array.isArray(failure.details) && { details: failure.details }),
  });
}

/**
 * The activity waits, and Temporal calls it again: no failure, so Temporal counts and logs none.
 * @param message codes and names only: Temporal shows it beside the time of the next attempt.
 */
export function waitFailure(message: string, delayMilliseconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'Waiting',
    message,
    // Temporal fails an activity whose delay is 0.
    nextRetryDelay: Math.max(1, Math.round(delayMilliseconds)),
    category: ApplicationFailureCategory.BENIGN,
  });
}

export function isWait(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN;
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
