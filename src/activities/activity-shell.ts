import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import { describeError, failureForHistory, isCancellationError, withRetryDelay } from './activity-error.ts';

/** A stop arrives on the response to a heartbeat, so this is also how soon an activity notices one. */
const HEARTBEAT_INTERVAL_MILLISECONDS = 500;

/** What an activity knows of its own execution. */
export interface Execution {
  /** 1 for the first try. */
  readonly attempt: number;
  /** Aborted on stop, timeout, and when the worker's shutdown grace is over. */
  readonly signal: AbortSignal;
  readonly workflowId: string;
  /** Temporal's id of the workflow run that scheduled the activity. */
  readonly runId: string;
  /** Unique in the run. */
  readonly activityId: string;
  /** How far the work is, in numbers: goes along with the heartbeats, so that Temporal shows what still comes in. */
  report(progress: Readonly<Record<string, number>>): void;
}

/**
 * Wraps the body of every activity: heartbeats from the first moment, in a timer and not per
 * chunk (a model may be silent for a minute), and errors without message text.
 */
export function activity<Input, Output>(
  logger: Logger,
  name: string,
  body: (input: Input, execution: Execution) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    const context = Context.current();
    let progress: Readonly<Record<string, number>> | undefined;
    const beat = (): void => (progress === undefined ? context.heartbeat() : context.heartbeat(progress));
    const heartbeat = setInterval(beat, HEARTBEAT_INTERVAL_MILLISECONDS);
    try {
      return await body(input, {
        attempt: context.info.attempt,
        signal: context.cancellationSignal,
        workflowId: context.info.workflowExecution?.workflowId ?? '',
        runId: context.info.workflowExecution?.runId ?? '',
        activityId: context.info.activityId,
        report: (reported) => {
          progress = reported;
        },
      });
    } catch (error) {
      if (!isCancellationError(error)) {
        const { workflowExecution, attempt } = context.info;
        logger.warn(
          { activity: name, attempt, workflowId: workflowExecution?.workflowId, ...describeError(error) },
          'activity failed',
        );
      }
      throw withRetryDelay(failureForHistory(error), context.info.attempt);
    } finally {
      clearInterval(heartbeat);
    }
  };
}
