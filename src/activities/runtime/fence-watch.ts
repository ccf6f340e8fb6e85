import { CancelledFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Database } from '../../store/database/database.ts';
import type { Listeners } from '../../store/database/listen.ts';
import { findEnded, WORK_CHANNEL } from '../../store/turns/fences.ts';
import type { CancellableWork, FencedWork } from '../../store/turns/fences.ts';
import { describeError } from './failures.ts';

/**
 * Milliseconds between two looks. Work that must end learns it within a second, on a busy machine too. Then a tool that does not react is
 * given up after 800 ms.
 */
const INTERVAL_MILLISECONDS = 500;

/** Watched work of this worker. */
export interface WatchedWork {
  /** Aborted, as by Temporal, when the work is cancelled, or with the `StoreError` that a write would meet once it was taken over. */
  readonly signal: AbortSignal;
  /** Looks now whether the work may go on. Rejects if Postgres cannot answer. */
  isHeld(): Promise<boolean>;
  /** Call it when the work is over. */
  end(): void;
}

/**
 * Tells running activities that they were cancelled, and model calls, summaries and tools that they were replaced. Temporal tells them only
 * in the answer to a heartbeat, each five seconds. A worker that reaches Postgres but not Temporal would go on paying or acting until its
 * first write is refused.
 */
export class FenceWatch {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #works = new Map<AbortController, FencedWork | CancellableWork>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  /** @param listeners receive cancellations at once. Without them, or if a notification is lost, a look finds them. */
  constructor(database: Database, logger: Logger, listeners?: Listeners) {
    this.#database = database;
    this.#logger = logger;
    listeners?.listen({
      channel: WORK_CHANNEL,
      receive: () => void this.#lookAnew(),
      failed: (error) => logger.debug(describeError(error), 'nothing tells of cancellations: they are looked for'),
    });
  }

  watch(work: FencedWork | CancellableWork): WatchedWork {
    const controller = new AbortController();
    const { signal } = controller;
    this.#works.set(controller, work);
    this.#timer ??= setInterval(() => void this.#look(), INTERVAL_MILLISECONDS);
    return {
      signal,
      isHeld: async () => {
        await this.#endLost([[controller, work]]);
        return !signal.aborted;
      },
      end: () => {
        this.#works.delete(controller);
        if (this.#works.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  /** A database that does not answer must not pile up looks. */
  #look(): Promise<void> {
    this.#looking ??= this.#endLost([...this.#works])
      // Nothing is lost: while Postgres does not answer, it takes no write either.
      .catch((error: unknown) =>
        this.#logger.debug(describeError(error), 'could not look whether running work was replaced'),
      )
      .finally(() => (this.#looking = null));
    return this.#looking;
  }

  /** A look that began before the notification may miss its cause. */
  async #lookAnew(): Promise<void> {
    await this.#looking;
    await this.#look();
  }

  async #endLost(works: readonly (readonly [AbortController, FencedWork | CancellableWork])[]): Promise<void> {
    const ends = await findEnded(
      this.#database,
      works.map(([, work]) => work),
    );
    works.forEach(([controller], place) => {
      const end = ends[place] ?? null;
      if (end !== null) controller.abort(end === 'cancelled' ? new CancelledFailure('CANCELLED') : end);
    });
  }
}
