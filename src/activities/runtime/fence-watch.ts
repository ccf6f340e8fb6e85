import { CancelledFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Database } from '../../store/database/database.ts';
import type { Listeners } from '../../store/database/listen.ts';
import { findCancelled, WORK_CHANNEL, findReplaced } from '../../store/turns/fences.ts';
import type { CancellableWork, FencedWork } from '../../store/turns/fences.ts';
import type { StoreError } from '../../store/database/errors.ts';
import { describeError } from './failures.ts';

/**
 * Milliseconds between two looks. Work that must end learns it within a second, on a busy machine too. Then a tool that does not react is
 * given up after 800 ms.
 */
const INTERVAL_MILLISECONDS = 500;

/** Watched work of this worker. */
export interface WatchedWork {
  /** Aborted with the `StoreError` that a write would meet, once a newer turn or attempt took the work over. */
  readonly signal: AbortSignal;
  /** Looks now whether the work was taken over. Rejects if Postgres cannot answer. */
  isReplaced(): Promise<boolean>;
  /** Looks now. Rejects with the `StoreError` that a write would meet if the work was taken over, or if Postgres cannot answer. */
  requireHeld(): Promise<void>;
  /** Call it when the work is over. */
  end(): void;
}

/**
 * Tells running model calls, summaries and tools that they were replaced or cancelled. Temporal tells them only in the answer to a
 * heartbeat, each five seconds. A worker that reaches Postgres but not Temporal would go on paying or acting until its first write is
 * refused.
 */
export class FenceWatch {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #fenced = new Map<AbortController, FencedWork>();
  readonly #cancellable = new Map<AbortController, CancellableWork>();
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

  watch(work: FencedWork): WatchedWork {
    const { controller, signal, end } = this.#register(this.#fenced, work);
    const look = async (): Promise<StoreError | null> => {
      const [refusal = null] = await findReplaced(this.#database, [work]);
      if (refusal !== null) controller.abort(refusal);
      return refusal;
    };
    return {
      signal,
      async isReplaced() {
        if (!signal.aborted) await look();
        return signal.aborted;
      },
      async requireHeld() {
        const refusal = await look();
        if (refusal !== null) throw refusal;
      },
      end,
    };
  }

  /** `signal` is aborted, as by Temporal, when the work is cancelled. */
  watchCancellation(work: CancellableWork): Pick<WatchedWork, 'signal' | 'end'> {
    return this.#register(this.#cancellable, work);
  }

  #register<Work>(works: Map<AbortController, Work>, work: Work) {
    const controller = new AbortController();
    works.set(controller, work);
    this.#timer ??= setInterval(() => void this.#look(), INTERVAL_MILLISECONDS);
    const end = (): void => {
      works.delete(controller);
      if (this.#fenced.size + this.#cancellable.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
    return { controller, signal: controller.signal, end };
  }

  /** A database that does not answer must not pile up looks. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookAtAll().finally(() => (this.#looking = null));
    return this.#looking;
  }

  /** A look that began before the notification may miss its cause. */
  async #lookAnew(): Promise<void> {
    await this.#looking;
    await this.#look();
  }

  async #lookAtAll(): Promise<void> {
    const [fenced, cancellable] = [[...this.#fenced], [...this.#cancellable]];
    try {
      const [refusals, cancelled] = await Promise.all([
        findReplaced(
          this.#database,
          fenced.map(([, work]) => work),
        ),
        findCancelled(
          this.#database,
          cancellable.map(([, work]) => work),
        ),
      ]);
      fenced.forEach(([controller], place) => {
        const refusal = refusals[place] ?? null;
        if (refusal !== null) controller.abort(refusal);
      });
      for (const [controller, work] of cancellable)
        if (cancelled.includes(work)) controller.abort(new CancelledFailure('CANCELLED'));
    } catch (error) {
      // Nothing is lost: while Postgres does not answer, it takes no write either.
      this.#logger.debug(describeError(error), 'could not look whether running work was replaced');
    }
  }
}
