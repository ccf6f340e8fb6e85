import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import { describeError, failureForHistory, isCancellationError, isWait, withRetryDelay } from './activity-error.ts';
import { OngoingWork } from './ongoing-work.ts';
import type { Execution, IsWorkflowOpen } from './ongoing-work.ts';

export type { Execution } from './ongoing-work.ts';

/**
 * Wraps the body of every activity: heartbeats from the first moment, in a timer and not per
 * chunk (a model may be silent for a minute), errors without message text, and an attempt that joins the one before where
 * that still works in this process.
 */
export function activity<Input, Output>(
  { logger, isWorkflowOpen }: { readonly logger: Logger; readonly isWorkflowOpen: IsWorkflowOpen },
  name: string,
  body: (input: Input, execution: Execution) => Promise<Output>,
): (input: Input) => Promise<Output> {
  const ongoing = new Map<string, OngoingWork<Output>>();
  return async (input) => {
    const context = Context.current();
    const { activityId, attempt, workflowExecution } = context.info;
    const key = `${workflowExecution?.runId ?? ''} ${activityId}`;
    const before = ongoing.get(key);
    const isJoined = before?.join(context) === true;
    const work = isJoined ? before : new OngoingWork(context, isWorkflowOpen, (execution) => body(input, execution));
    ongoing.set(key, work);
    const logged = { activity: name, attempt, workflowId: workflowExecution?.workflowId };
    if (isJoined) logger.info(logged, 'goes on with what the attempt before has begun');
    try {
      return await work.result;
    } catch (error) {
      // Of attempts that wait for the same work the newest one tells.
      if (!isCancellationError(error) && !isWait(error) && work.isOf(context)) {
        logger.warn({ ...logged, ...describeError(error) }, 'activity failed');
      }
      throw withRetryDelay(failureForHistory(error), attempt);
    } finally {
      if (ongoing.get(key) === work) ongoing.delete(key);
    }
  };
}
