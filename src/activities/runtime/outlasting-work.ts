import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
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
   * Waits for unfinished work of an earlier attempt in this process. `false` if there was none.
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
