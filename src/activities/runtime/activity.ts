import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { countActivityFailure } from '../../store/turns/activity-failures.ts';
import { REPEATED_FAILURE } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { describeError, failureForTemporal, handOver, isCancellationError, isWait, LackedHere } from './failures.ts';
import { OngoingWork } from './outlasting-work.ts';

/** Every activity knows whose work it does. */
export type ActivityInput =
  | { readonly turn: TurnReference }
  | { readonly conversationId: string; readonly turn?: TurnReference | null };

export interface ActivityBody<Input, Output> {
  /** Name in logs and in the timeline. */
  readonly name: string;
  readonly run: (input: Input, execution: Execution) => Promise<Output>;
  /** The result if the activity failed too often, instead of an interrupted turn. */
  readonly givenUp?: () => Output;
}

type Shell = Pick<
  ActivityDependencies,
  'database' | 'logger' | 'isServed' | 'isWorkflowOpen' | 'worksOn' | 'fenceWatch' | 'outlastingWork'
>;

/**
 * Wraps the body of every activity. Heartbeats come from a timer, from the first moment, because a model may be silent for a minute.
 * Errors lose their message text. An attempt joins the work of an earlier attempt that still runs in this process, or waits until that is
 * stored.
 */
export function activity<Input extends ActivityInput, Output>(
  shell: Shell,
  { name, run, givenUp }: ActivityBody<Input, Output>,
): (input: Input) => Promise<Output> {
  const { database, logger, isWorkflowOpen, worksOn, fenceWatch, outlastingWork } = shell;
  const ongoing = new Map<string, OngoingWork<Output>>();
  return async (input) => {
    const context = Context.current();
    const { activityId, attempt, workflowExecution } = context.info;
    const runId = workflowExecution?.runId ?? '';
    const key = `${runId} ${activityId}`;
    const owner = ownerOf(input);
    const { conversationId, turn } = owner;
    const done = worksOn(conversationId);
    const runHere = async (execution: Execution): Promise<Output> => {
      await outlastingWork.settled(execution);
      try {
        return await run(input, execution);
      } catch (error) {
        throw error instanceof LackedHere ? await handOver(shell, owner, execution.attempt, error) : error;
      }
    };
    const runUntilCancelled = async (execution: Execution): Promise<Output> => {
      if (turn === null) return runHere(execution);
      const watched = fenceWatch.watch({ purpose: 'activity', turn, runId, activityId: Number(activityId) });
      try {
        return await runHere({ ...execution, signal: AbortSignal.any([execution.signal, watched.signal]) });
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
      // If several attempts wait for the same work, only the newest one logs.
      if (!isCancellationError(error) && !isWait(error) && work.isOf(context)) {
        logger.warn({ ...logged, ...describeError(error) }, 'activity failed');
      }
      const of = { ...owner, activity: name, runId, activityId };
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

function ownerOf(input: ActivityInput): {
  readonly conversationId: string;
  readonly turn: TurnReference | null;
} {
  const { turn = null } = input;
  return { conversationId: 'conversationId' in input ? input.conversationId : input.turn.conversationId, turn };
}

/** What an activity knows of its own execution. */
export interface Execution {
  /** 1 for the first try. */
  readonly attempt: number;
  /** Aborted by a stop, a timeout, or the end of the worker's shutdown grace period. */
  readonly signal: AbortSignal;
  readonly workflowId: string;
  /** Temporal's id of the workflow run that scheduled the activity. */
  readonly runId: string;
  /** Unique in the run. */
  readonly activityId: string;
  /** When Temporal first scheduled the activity, by Temporal's clock. */
  readonly scheduledAt: Date;
  /** Milliseconds that Temporal allows for the attempt. */
  readonly timeLimit: number;
  /** Progress in numbers. Heartbeats carry it, so that Temporal shows whether work still advances. */
  report(progress: Readonly<Record<string, number>>): void;
}
