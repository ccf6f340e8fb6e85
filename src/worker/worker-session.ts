import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { describeError } from '../activities/runtime/failures.ts';
import type { Database } from '../store/database/database.ts';
import { observeTakeover } from '../store/log/observe-events.ts';
import type { FreeSession } from '../store/upkeep/worker-sessions.ts';
import { holdSessionLock, renewSession, takeOverSession } from '../store/upkeep/worker-sessions.ts';
import { releaseWork } from '../temporal/release-work.ts';
import { atMost } from '../turn/limits.ts';

const RENEW_MILLISECONDS = 250;
/** Interval while another worker may be dead. */
const SUSPICIOUS_MILLISECONDS = 50;
/** After a failed look nobody counts as dead for so long: as long as after a start of Postgres (`renewSession`). */
const BLIND_MILLISECONDS = 10_000;
/** Longest wait for a write of the row. */
const PATIENCE_MILLISECONDS = 1_000;
/** Conversations whose work is released at once. */
const RELEASED_AT_ONCE = 10;

interface SessionDependencies {
  readonly database: Database;
  /** Its one connection holds the worker's lock. `null`: no worker notices this one's death, except by heartbeats. */
  readonly sessionDatabase: Database | null;
  readonly client: Client;
  readonly identity: string;
  readonly logger: Logger;
}

/** Shows that this worker lives, and takes over the work of dead workers. */
export class WorkerSession {
  readonly #dependencies: SessionDependencies;
  /** Activities that run, by conversation. */
  readonly #conversations = new Map<string, number>();
  #isEnding = false;
  #isHeld = false;
  #isWarned = false;
  #holding: Promise<void> | null = null;
  #suspicions: readonly Suspicion[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** By `performance.now()`. */
  #blindUntil = 0;

  constructor(dependencies: SessionDependencies) {
    this.#dependencies = dependencies;
    this.#lookNow();
  }

  /** Marks that the worker works on the conversation. @returns to be called when the work has ended */
  worksOn(conversationId: string): () => void {
    const change = (by: number): void => {
      const open = (this.#conversations.get(conversationId) ?? 0) + by;
      if (open === 0) this.#conversations.delete(conversationId);
      else this.#conversations.set(conversationId, open);
    };
    change(1);
    return () => change(-1);
  }

  /** Call it when no work of this worker runs any more. */
  async end(): Promise<void> {
    const { database, sessionDatabase, identity } = this.#dependencies;
    this.#isEnding = true;
    clearTimeout(this.#timer);
    const leave = async (): Promise<void> => {
      await this.#looking;
      await renewSession(database, identity, null);
    };
    // If Postgres is away, the row stays, as that of a dead worker without work.
    const late = pause(PATIENCE_MILLISECONDS, undefined, { ref: false });
    await Promise.race([leave().catch(() => undefined), late]);
    await sessionDatabase?.end({ timeout: 1 });
    await this.#holding;
  }

  #lookNow(): void {
    this.#looking = this.#look().finally(() => {
      const wait = this.#suspicions.length > 0 ? SUSPICIOUS_MILLISECONDS : RENEW_MILLISECONDS;
      if (!this.#isEnding) this.#timer = setTimeout(() => this.#lookNow(), wait);
    });
  }

  async #look(): Promise<void> {
    const { database, sessionDatabase, identity, logger } = this.#dependencies;
    if (!this.#isHeld && sessionDatabase !== null) this.#holding ??= this.#hold(sessionDatabase);
    try {
      const free = await renewSession(database, identity, this.#isHeld ? [...this.#conversations.keys()] : null);
      if (free.some(({ id }) => id === identity)) this.#isHeld = false;
      if (performance.now() < this.#blindUntil) return;
      const others = free.filter(({ id }) => id !== identity);
      const { suspicions, dead } = judgeSessions(this.#suspicions, others, performance.now());
      this.#suspicions = suspicions;
      for (const each of dead) await succeed(this.#dependencies, each);
    } catch (error) {
      // While Postgres was away, no worker could renew its row, and the others may come back later than this one.
      this.#suspicions = [];
      this.#blindUntil = performance.now() + BLIND_MILLISECONDS;
      logger.debug(describeError(error), 'the worker could not renew its session');
    }
  }

  async #hold(session: Database): Promise<void> {
    try {
      await holdSessionLock(session, this.#dependencies.identity);
      this.#isHeld = true;
      this.#isWarned = false;
    } catch (error) {
      if (this.#isEnding || this.#isWarned) return;
      this.#isWarned = true;
      this.#dependencies.logger.warn(
        describeError(error),
        'the worker does not hold its session lock, and tries again',
      );
    } finally {
      this.#holding = null;
    }
  }
}

/** Takes over from a dead worker: its attempts end, and any worker gets the next ones. */
async function succeed({ database, client, logger }: SessionDependencies, dead: Suspicion): Promise<void> {
  let attempts = 0;
  try {
    const isDone = await takeOverSession(database, dead, (conversations) =>
      atMost(RELEASED_AT_ONCE, conversations, async (conversationId) => {
        const released = await releaseWork(client, dead.id, conversationId);
        attempts += released;
      }),
    );
    if (!isDone) return;
    logger.warn({ worker: dead.id, attempts }, 'a worker died: its work goes on');
    observeTakeover((performance.now() - dead.since) / 1_000);
  } catch (error) {
    logger.warn({ worker: dead.id, ...describeError(error) }, 'the work of a dead worker could not be taken over yet');
  }
}

/** Milliseconds for which a lock must have been free, without a renewal of the row, until its worker counts as dead. */
const FREE_MILLISECONDS = 500;

/** When a lock was first seen free, with the row at that time. */
interface Suspicion extends FreeSession {
  /** By `performance.now()`. */
  readonly since: number;
}

/**
 * Which workers are dead. A worker that only lost its lock, because Postgres restarted or its connection ended, renews its row and takes
 * the lock again.
 * @param suspicions of the last look. A dead worker leaves them, so it is suspected anew if its takeover fails.
 * @param free workers whose lock is free
 */
export function judgeSessions(
  suspicions: readonly Suspicion[],
  free: readonly FreeSession[],
  now: number,
): { readonly suspicions: readonly Suspicion[]; readonly dead: readonly Suspicion[] } {
  const judged = free.map(
    ({ id, renewals }) =>
      suspicions.find((before) => before.id === id && before.renewals === renewals) ?? { id, renewals, since: now },
  );
  const isDead = ({ since }: Suspicion): boolean => now - since >= FREE_MILLISECONDS;
  return { suspicions: judged.filter((each) => !isDead(each)), dead: judged.filter(isDead) };
}
