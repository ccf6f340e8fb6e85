import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { countActivityFailure } from '../../store/turns/activity-failures.ts';
import { REPEATED_FAILURE } from '../../turn/limits.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { describeError, failureForTemporal, isCancellationError, isWait } from './failures.ts';

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

/**
 * Wraps the body of every activity. Heartbeats come from a timer, from the first moment, because a model may be silent for a minute.
 * Errors lose their message text. An attempt joins the work of an earlier attempt that still runs in this process.
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
    const done = worksOn(conversationId);
    const runUntilCancelled = async (execution: Execution): Promise<Output> => {
      if (turn === null) return run(input, execution);
      const watched = fenceWatch.watch({ purpose: 'activity', turn, runId, activityId: Number(activityId) });
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
      // If several attempts wait for the same work, only the newest one logs.
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

/** Heartbeats are the safety net: the session shows a worker's death sooner, and a row shows a cancellation (`FenceWatch`). */
const HEARTBEAT_INTERVAL_MILLISECONDS = 5_000;

/**
 * How long work goes on after Temporal gave its attempt up, until the next attempt joins it. Temporal offers that 200 ms later (`RETRY`
 * in `src/workflows/activity-options.ts`); a worker that lost its connection polls again within some seconds.
 */
const JOIN_MILLISECONDS = 5_000;

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

/** @param runId Default: the newest run */
export type IsWorkflowOpen = (workflowId: string, runId?: string) => Promise<boolean>;

/**
 * The work of one activity, with its heartbeats and the attempts that this process got. After twenty seconds without heartbeats Temporal
 * gives an attempt up, because the worker is dead or Temporal itself was away. The work then goes on for the next attempt, if this
 * process gets it. So a restarted server kills no command and buys no answer again.
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

  /** Lets an attempt wait for this work and decide when it is aborted. `false` if the work is over its time, or aborted. */
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

  /** Temporal no longer knows the attempt. Another one follows, or the turn was terminated. */
  async #awaitNext({ info }: Context, abort: () => void): Promise<void> {
    const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
    const isOpen = await this.#isWorkflowOpen(workflowId, runId).catch(() => false);
    if (!isOpen) abort();
    else setTimeout(abort, JOIN_MILLISECONDS).unref();
  }

  /** Work that hangs until Temporal's time limit must begin anew; to join it would be to hang too. */
  #isOverTime(): boolean {
    return performance.now() - this.#startedAt >= this.#context.info.startToCloseTimeoutMs;
  }
}
