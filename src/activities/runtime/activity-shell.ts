import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { countActivityFailure } from '../../store/turns/activity-failures.ts';
import { REPEATED_FAILURE } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import { describeError, failureForTemporal, isCancellationError, isWait } from './activity-error.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { OngoingWork } from './ongoing-work.ts';
import type { Execution } from './ongoing-work.ts';

export type { Execution } from './ongoing-work.ts';

/** Every activity is told whose work it does. */
export type ActivityInput =
  | { readonly turn: TurnReference }
  | { readonly conversationId: string; readonly turn?: TurnReference | null };

export interface ActivityBody<Input, Output> {
  /** Named in logs and in the timeline. */
  readonly name: string;
  readonly run: (input: Input, execution: Execution) => Promise<Output>;
  /** What follows in place of an interrupted turn when it failed too often. */
  readonly givenUp?: () => Output;
}

/**
 * Wraps the body of every activity: heartbeats from the first moment, in a timer and not per
 * chunk (a model may be silent for a minute), errors without message text, and an attempt that joins the one before where
 * that still works in this process.
 */
export function activity<Input extends ActivityInput, Output>(
  {
    database,
    logger,
    isWorkflowOpen,
    worksOn,
    fenceWatch,
  }: Pick<ActivityDependencies, 'database' | 'logger' | 'isWorkflowOpen' | 'worksOn' | 'fenceWatch'>,
  { name, run, givenUp }: ActivityBody<Input, Output>,
): (input: Input) => Promise<Output> {
  const ongoing = new Map<string, OngoingWork<Output>>();
  return async (input) => {
    const context = Context.current();
    const { activityId, attempt, workflowExecution } = context.info;
    const runId = workflowExecution?.runId ?? '';
    const key = `${runId} ${activityId}`;
    const { conversationId, turn } = ownerOf(input);
    const { told, done } = worksOn(conversationId);
    if (told !== null) await told;
    const runUntilCancelled = async (execution: Execution): Promise<Output> => {
      if (turn === null) return run(input, execution);
      const watched = fenceWatch.watchCancellation({ turnId: turn.turnId, runId, activityId: Number(activityId) });
      try {
        return await run(input, { ...execution, signal: AbortSignal.any([execution.signal, watched.signal]) });
      } finally {
        watched.end();
      }
    };
    const before = ongoing.get(key);
    const isJoined = before?.join(context) === true;
    const work = isJoined ? before : new OngoingWork(context, isWorkflowOpen, runUntilCancelled);
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
      const of = { ...ownerOf(input), activity: name, runId, activityId };
      const failure = await failureForTemporal(error, (code) => countActivityFailure(database, { ...of, code }));
      if (givenUp !== undefined && failure instanceof ApplicationFailure && failure.type === REPEATED_FAILURE) {
        return givenUp();
      }
      throw failure;
    } finally {
      done();
      if (ongoing.get(key) === work) ongoing.delete(key);
    }
  };
}

export function ownerOf(input: ActivityInput): {
  readonly conversationId: string;
  readonly turn: TurnReference | null;
} {
  const { turn = null } = input;
  return { conversationId: 'conversationId' in input ? input.conversationId : input.turn.conversationId, turn };
}
