import type { Logger } from 'pino';
import type { Database } from '../../store/database/database.ts';
import { findReplaced } from '../../store/turns/fences.ts';
import type { FencedWork } from '../../store/turns/fences.ts';
import type { StoreError } from '../../store/database/errors.ts';
import { describeError } from './activity-error.ts';

/**
 * Milliseconds between two looks. A writer that was replaced stops within 2 s: this, the query, and the 800 ms after which a tool
 * that does not react is given up.
 */
const INTERVAL_MILLISECONDS = 750;

/** Work of this worker that is under watch. */
export interface WatchedWork {
  /** Aborted, with the `StoreError` that a write would meet, once a newer turn or attempt took the work over. */
  readonly signal: AbortSignal;
  /** Looks now whether the work was taken over. Rejects with what keeps Postgres from saying. */
  isReplaced(): Promise<boolean>;
  /** Looks now. Rejects with the `StoreError` that a write would meet if the work was taken over, or with what keeps Postgres from saying. */
  requireHeld(): Promise<void>;
  /** Must be called when the work is over. */
  end(): void;
}

/**
 * Tells running model calls, summaries and tools that they were replaced. Temporal tells them too, by the response to a
 * heartbeat; but a worker that Postgres still reaches and Temporal does not (or that Temporal forgot) would go on
 * paying for an answer, or acting, until its first write is refused.
 */
export interface FenceWatch {
  watch(work: FencedWork): WatchedWork;
}

export function createFenceWatch(database: Database, logger: Logger): FenceWatch {
  const watched = new Map<AbortController, FencedWork>();
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;

  async function lookAt(works: readonly (readonly [AbortController, FencedWork])[]): Promise<void> {
    try {
      const refusals = await findReplaced(
        database,
        works.map(([, work]) => work),
      );
      works.forEach(([controller], place) => {
        const refusal = refusals[place] ?? null;
        if (refusal !== null) controller.abort(refusal);
      });
    } catch (error) {
      // Nothing is lost by it: as long as Postgres does not answer, it takes no write either.
      logger.debug(describeError(error), 'could not look whether running work was replaced');
    }
  }

  async function lookAtAll(): Promise<void> {
    // A database that does not answer must not pile up looks.
    if (isLooking) return;
    isLooking = true;
    await lookAt([...watched]);
    isLooking = false;
  }

  return {
    watch(work) {
      const controller = new AbortController();
      watched.set(controller, work);
      timer ??= setInterval(() => void lookAtAll(), INTERVAL_MILLISECONDS);
      const look = async (): Promise<StoreError | null> => {
        const [refusal = null] = await findReplaced(database, [work]);
        if (refusal !== null) controller.abort(refusal);
        return refusal;
      };
      return {
        signal: controller.signal,
        async isReplaced() {
          if (!controller.signal.aborted) await look();
          return controller.signal.aborted;
        },
        async requireHeld() {
          const refusal = await look();
          if (refusal !== null) throw refusal;
        },
        end() {
          watched.delete(controller);
          if (watched.size > 0 || timer === null) return;
          clearInterval(timer);
          timer = null;
        },
      };
    },
  };
}
