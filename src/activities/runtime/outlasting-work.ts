/** All work that outlives its attempt: another attempt joins it, or waits until it is stored. */
import { once, setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import type { Execution } from './activity.ts';

/** Milliseconds for a last try when the worker ends. */
const LAST_TRY_MILLISECONDS = 1_000;

/**
 * Work that must not end with its activity: storing a paid answer, or the result of a tool that acted. Temporal gives an activity up at
 * its time limit, however long Postgres is away, and a stop aborts it. The worker still stores the result, until Postgres takes it or the
 * grace period of a shutdown ends. Few results wait at once, because no new call begins while Postgres is away.
 */
export interface OutlastingWork {
  /** Does the work to its end. @param work gets the execution with a signal that only the end of the worker aborts */
  finish<Result>(execution: Execution, work: (lasting: Execution) => Promise<Result>): Promise<Result>;
  /**
   * Waits until work of an earlier attempt in this process is stored. `false` if there was none.
   * @throws the signal's reason if this attempt is aborted first
   */
  settled(execution: Execution): Promise<boolean>;
  /** Lets unfinished work try once more, and waits a second for it. */
  end(): Promise<void>;
}

interface Work {
  /** The same for all attempts of an activity. */
  readonly activity: string;
  /** Never rejects. */
  readonly settled: Promise<void>;
}

export function createOutlastingWork(): OutlastingWork {
  const works = new Set<Work>();
  const ending = new AbortController();
  // All results of the worker may wait for Postgres at once.
  setMaxListeners(0, ending.signal);
  return {
    async finish(execution, work) {
      const result = work({ ...execution, signal: ending.signal });
      const kept = { activity: activityOf(execution), settled: result.then(ignore, ignore) };
      works.add(kept);
      void kept.settled.then(() => works.delete(kept));
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
    async end() {
      ending.abort();
      const all = Promise.all([...works].map(({ settled }) => settled));
      await Promise.race([all, delay(LAST_TRY_MILLISECONDS, undefined, { ref: false })]);
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
