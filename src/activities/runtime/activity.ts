import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { countActivityFailure } from '../../store/turns/activity-failures.ts';
import { REPEATED_FAILURE } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { describeError, failureForTemporal, isCancellationError, isWait } from './failures.ts';

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

/** Heartbeats are the net: a worker's death is told by its session, and a cancellation by a row (`FenceWatch`). */
const HEARTBEAT_INTERVAL_MILLISECONDS = 5_000;

/**
 * How long work goes on whose attempt Temporal has given up, until the next attempt comes. Temporal offers it 200 ms later
 * (`RETRY` in `src/workflows/activity-options.ts`); a worker that has lost its connection asks again within some seconds.
 */
const JOIN_MILLISECONDS = 5_000;

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
  /** When Temporal first scheduled the activity, by Temporal's clock. */
  readonly scheduledAt: Date;
  /** Milliseconds that Temporal gives the attempt. */
  readonly timeLimit: number;
  /** How far the work is, in numbers: goes along with the heartbeats, so that Temporal shows what still comes in. */
  report(progress: Readonly<Record<string, number>>): void;
}

/** @param runId of the run that is meant. Default: the newest one */
export type IsWorkflowOpen = (workflowId: string, runId?: string) => Promise<boolean>;

/**
 * The work of one activity, heartbeats included, and the attempts of it that this process was given. Temporal gives an attempt
 * up when its heartbeats do not arrive for twenty seconds: because the worker is dead, or because Temporal itself was away. Then
 * the work goes on for the next attempt, if this process is given that one: a command is not killed, and no answer is bought
 * again, because a server was restarted.
 */
class OngoingWork<Output> {
  readonly result: Promise<Output>;
  readonly #startedAt = performance.now();
  readonly #abort = new AbortController();
  readonly #isWorkflowOpen: IsWorkflowOpen;
  #context: Context;
  #progress: Readonly<Record<string, number>> | undefined;

  constructor(context: Context, isWorkflowOpen: IsWorkflowOpen, body: (execution: Execution) => Promise<Output>) {
    this.#context = context;
    this.#isWorkflowOpen = isWorkflowOpen;
    this.#follow(context);
    const heartbeat = setInterval(() => this.#beat(), HEARTBEAT_INTERVAL_MILLISECONDS);
    this.result = body(this.#execution()).finally(() => clearInterval(heartbeat));
  }

  /** The attempt waits for this work, and decides from now on when it is aborted. `false`: the work is over its time, or aborted. */
  join(context: Context): boolean {
    if (this.#abort.signal.aborted || this.#isOverTime()) return false;
    this.#context = context;
    this.#follow(context);
    return true;
  }

  /** Whether the attempt is the newest one that waits for the work. */
  isOf(context: Context): boolean {
    return this.#context === context;
  }

  #beat(): void {
    if (this.#progress === undefined) this.#context.heartbeat();
    else this.#context.heartbeat(this.#progress);
  }

  #execution(): Execution {
    const { attempt, workflowExecution, activityId, scheduledTimestampMs, startToCloseTimeoutMs } = this.#context.info;
    return {
      attempt,
      signal: this.#abort.signal,
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      activityId,
      scheduledAt: new Date(scheduledTimestampMs),
      timeLimit: startToCloseTimeoutMs,
      report: (progress) => {
        this.#progress = progress;
      },
    };
  }

  #follow(context: Context): void {
    const abort = (): void => {
      if (this.isOf(context)) this.#abort.abort(context.cancellationSignal.reason);
    };
    const cancelled = (): void => {
      if (context.cancellationDetails?.notFound === true && !this.#isOverTime()) void this.#awaitNext(context, abort);
      else abort();
    };
    if (context.cancellationSignal.aborted) cancelled();
    else context.cancellationSignal.addEventListener('abort', cancelled, { once: true });
  }

  /** Temporal knows the attempt no more: another one follows, or the turn was terminated. */
  async #awaitNext({ info }: Context, abort: () => void): Promise<void> {
    const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
    const isOpen = await this.#isWorkflowOpen(workflowId, runId).catch(() => false);
    if (!isOpen) abort();
    else setTimeout(abort, JOIN_MILLISECONDS).unref();
  }

  /** What hangs until Temporal's time limit is to be begun anew: to join it would be to wait for what does not come. */
  #isOverTime(): boolean {
    return performance.now() - this.#startedAt >= this.#context.info.startToCloseTimeoutMs;
  }
}
