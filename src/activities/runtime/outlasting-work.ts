/** All work that outlives its attempt: another attempt joins it, or it is stored without one. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import { isOutage } from '../../store/database/errors.ts';
import type { Execution } from './activity.ts';
import { describeError } from './failures.ts';

/** Milliseconds that an aborted activity waits for its work: a write that Postgres takes now is reported, and a stop is not delayed. */
const LINGER_MILLISECONDS = 1_000;

/** Longest time that work goes on without its activity. A write that is refused for a day will not be taken. */
const LONGEST_MILLISECONDS = 24 * 60 * 60 * 1_000;

/** Milliseconds for a last try when the process ends. */
const LAST_TRY_MILLISECONDS = 1_000;

/**
 * Work that must not end with its activity: storing a paid answer, or the result of a tool that acted. Temporal gives an activity up at
 * its time limit, however long Postgres is away. The process still stores the result, until Postgres takes it, the grace period of a
 * shutdown ends, or a day has passed. Few results wait at once, because no new call begins while Postgres is away.
 */
export interface OutlastingWork {
  /**
   * Does the work to its end. An activity that is aborted meanwhile ends a second later with the reason, and the work goes on alone.
   * @param work gets the execution with a signal that outlasts the activity's
   */
  finish<Result>(execution: Execution, work: (lasting: Execution) => Promise<Result>): Promise<Result>;
  /**
   * Waits until work of an earlier attempt in this process is stored. `false` if there was none.
   * @throws the signal's reason if this attempt is aborted first
   */
  settled(execution: Execution): Promise<boolean>;
  /** Waits this many milliseconds for unfinished work, then lets it try once more. */
  end(milliseconds: number): Promise<void>;
}

interface Work {
  /** The same for all attempts of an activity. */
  readonly activity: string;
  readonly over: AbortController;
  /** Never rejects. */
  readonly settled: Promise<void>;
}

export function createOutlastingWork(logger: Logger): OutlastingWork {
  const works = new Set<Work>();

  async function goOnAlone({ over }: Work, { workflowId, attempt }: Execution, result: Promise<unknown>) {
    const identity = { workflowId, attempt };
    logger.warn(identity, 'Temporal gave an activity up: what it has at hand is stored without it');
    const timer = setTimeout(() => over.abort(), LONGEST_MILLISECONDS).unref();
    try {
      await result;
      logger.info(identity, 'what an activity had at hand when it was given up is stored');
    } catch (error) {
      const lost = isOutage(error);
      const told = { ...identity, ...describeError(error) };
      if (lost) logger.error(told, 'what an activity had at hand when it was given up is lost');
      else logger.warn(told, 'an activity that was given up has ended');
    } finally {
      clearTimeout(timer);
    }
  }

  async function allSettledWithin(milliseconds: number): Promise<void> {
    const all = Promise.all([...works].map(({ settled }) => settled));
    await Promise.race([all, delay(milliseconds, undefined, { ref: false })]);
  }

  return {
    async finish(execution, work) {
      const over = new AbortController();
      const result = work({ ...execution, signal: over.signal });
      const settled = result.then(ignore, ignore);
      const kept = { activity: activityOf(execution), over, settled };
      works.add(kept);
      void settled.then(() => works.delete(kept));
      const isGivenUp = abortOf(execution.signal).then(() => delay(LINGER_MILLISECONDS, true, { ref: false }));
      if ((await Promise.race([settled, isGivenUp])) === true) {
        void goOnAlone(kept, execution, result);
        execution.signal.throwIfAborted();
      }
      return result;
    },
    async settled(execution) {
      const { signal } = execution;
      const activity = activityOf(execution);
      const before = [...works].filter((work) => work.activity === activity);
      if (before.length === 0) return false;
      await Promise.race([Promise.all(before.map(({ settled }) => settled)), abortOf(signal)]);
      signal.throwIfAborted();
      return true;
    },
    async end(milliseconds) {
      await allSettledWithin(milliseconds);
      for (const { over } of works) over.abort();
      await allSettledWithin(LAST_TRY_MILLISECONDS);
    },
  };
}

function activityOf({ workflowId, runId, activityId }: Execution): string {
  return `${workflowId}:${runId}:${activityId}`;
}

const ignore = (): void => undefined;

/** Resolves once the signal is aborted. */
async function abortOf(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Heartbeats are the safety net: the session shows a worker's death sooner, and a row shows a cancellation (`FenceWatch`). */
const HEARTBEAT_INTERVAL_MILLISECONDS = 5_000;

/**
 * How long work goes on after Temporal gave its attempt up, until the next attempt joins it. Temporal offers that 200 ms later (`RETRY`
 * in `src/workflows/activity-options.ts`); a worker that lost its connection polls again within some seconds.
 */
const JOIN_MILLISECONDS = 5_000;

/** @param runId Default: the newest run */
export type IsWorkflowOpen = (workflowId: string, runId?: string) => Promise<boolean>;

/**
 * The work of one activity, with its heartbeats and the attempts that this process got. After twenty seconds without heartbeats Temporal
 * gives an attempt up, because the worker is dead or Temporal itself was away. The work then goes on for the next attempt, if this
 * process gets it. So a restarted server kills no command and buys no answer again.
 */
export class OngoingWork<Output> {
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
