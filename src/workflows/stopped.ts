import { ActivityFailure, isCancellation } from '@temporalio/workflow';

/**
 * Whether an error says that a scope was cancelled. An activity whose worker dies, or that fails, after its cancellation was
 * asked for is not tried again: Temporal then reports the death or the failure, and that it is final because of the cancellation.
 */
export function isStop(error: unknown): boolean {
  return isCancellation(error) || (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED');
}
