import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { describeError } from '../activities/runtime/failures.ts';
import type { Database } from '../store/database/database.ts';
import { observeTakeover } from '../store/log/observe-events.ts';
import type { Announcement, FreeSession } from '../store/upkeep/worker-sessions.ts';
import { holdSessionLock, isServed, renewSession, takeOverSession } from '../store/upkeep/worker-sessions.ts';
import { releaseWork } from '../temporal/release-work.ts';
import { atMost } from '../turn/limits.ts';
import type { WorkerNeed } from '../turn/limits.ts';

const RENEW_MILLISECONDS = 250;
/** Milliseconds for which a lock must have been free, without a renewal of the row, until its worker counts as dead. */
const FREE_MILLISECONDS = 500;
/** After a failed look nobody counts as dead for so long: as long as after a start of Postgres (`renewSession`). */
const BLIND_MILLISECONDS = 10_000;
/** Longest wait for Postgres at the end. */
const PATIENCE_MILLISECONDS = 1_000;
/** Conversations whose work is released at once. */
const RELEASED_AT_ONCE = 10;

interface SessionDependencies {
  readonly database: Database;
  /** Its one connection holds the worker's lock. */
  readonly liveDatabase: Database;
  /** Its one connection renews the worker's row. */
  readonly sessionDatabase: Database;
  /** `false`: a pooler is in between, so there is no lock, and only heartbeats show that this worker died. */
  readonly isDirect: boolean;
  readonly client: Client;
  readonly identity: string;
  readonly announced: Announcement;
  readonly logger: Logger;
}

/** Shows that this worker lives and what it can run, and takes over the work of dead workers. */
export class WorkerSession {
  readonly #dependencies: SessionDependencies;
  /** Activities that run. */
  readonly #work = new Set<{ readonly conversationId: string }>();
  readonly #ending = new AbortController();
  readonly #ended: Promise<void>;
  #lock: 'free' | 'asked for' | 'held' = 'free';
  #isWarned = false;
  #others: Others = { suspects: [], dead: [], blindUntil: 0 };

  constructor(dependencies: SessionDependencies) {
    this.#dependencies = dependencies;
    this.#ended = this.#lookUntilEnd();
  }

  /** Marks that the worker works on the conversation. @returns to be called when the work has ended */
  worksOn(conversationId: string): () => void {
    const work = { conversationId };
    this.#work.add(work);
    return () => void this.#work.delete(work);
  }

  /** Whether a running worker of the queue can run this; `null`: unknown without a direct connection. */
  async isServed(need: WorkerNeed): Promise<boolean | null> {
    const { database, isDirect, announced } = this.#dependencies;
    return isDirect ? isServed(database, announced.taskQueue, need) : null;
  }

  /** Call it when no work of this worker runs any more. If Postgres is away, its row stays, as that of a dead worker without work. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.race([this.#ended, pause(PATIENCE_MILLISECONDS, undefined, { ref: false })]);
  }

  async #lookUntilEnd(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.#look();
      await pause(RENEW_MILLISECONDS, undefined, { signal }).catch(() => undefined);
    }
    await this.#renew(null);
  }

  async #look(): Promise<void> {
    const { isDirect, identity } = this.#dependencies;
    if (isDirect && this.#lock === 'free') void this.#hold();
    const isHeld = this.#lock === 'held';
    const free = await this.#renew(isHeld ? [...this.#work].map(({ conversationId }) => conversationId) : null);
    if (isHeld && free?.some(({ id }) => id === identity) === true) this.#lock = 'free';
    this.#others = judgeOthers(this.#others, free?.filter(({ id }) => id !== identity) ?? null, performance.now());
    for (const each of this.#others.dead) await succeed(this.#dependencies, each);
  }

  /** @returns `null`: Postgres did not answer */
  async #renew(mine: readonly string[] | null): Promise<readonly FreeSession[] | null> {
    const { sessionDatabase, identity, announced, logger } = this.#dependencies;
    try {
      return await renewSession(sessionDatabase, identity, mine, announced);
    } catch (error) {
      logger.debug(describeError(error), 'the worker could not renew its session');
      return null;
    }
  }

  async #hold(): Promise<void> {
    const { liveDatabase, identity, logger } = this.#dependencies;
    this.#lock = 'asked for';
    try {
      await holdSessionLock(liveDatabase, identity);
      this.#lock = 'held';
      this.#isWarned = false;
    } catch (error) {
      this.#lock = 'free';
      if (this.#ending.signal.aborted || this.#isWarned) return;
      this.#isWarned = true;
      logger.warn(describeError(error), 'the worker does not hold its session lock, and tries again');
    }
  }
}

/** Takes over from a dead worker: its attempts end, and any worker gets the next ones. */
async function succeed({ database, client, logger }: SessionDependencies, dead: Suspect): Promise<void> {
  try {
    await takeOverSession(database, dead, async (conversations) => {
      let attempts = 0;
      await atMost(RELEASED_AT_ONCE, conversations, async (conversationId) => {
        const released = await releaseWork(client, dead.id, conversationId);
        attempts += released;
      });
      logger.warn({ worker: dead.id, attempts }, 'a worker died: its work goes on');
      observeTakeover((performance.now() - dead.since) / 1_000);
    });
  } catch (error) {
    logger.warn({ worker: dead.id, ...describeError(error) }, 'the work of a dead worker could not be taken over yet');
  }
}

/** A worker whose lock is free, since it was first seen so with this row. */
interface Suspect extends FreeSession {
  /** By `performance.now()`. */
  readonly since: number;
}

/** What a worker knows of the others. */
interface Others {
  readonly suspects: readonly Suspect[];
  readonly dead: readonly Suspect[];
  /** Until then nobody counts as dead, by `performance.now()`. */
  readonly blindUntil: number;
}

/**
 * Which workers are dead. A worker that only lost its lock, because Postgres restarted or its connection ended, renews its row and takes
 * the lock again. A dead worker leaves the suspects, so it is suspected anew if its takeover fails.
 * @param free workers whose lock is free; `null`: the look failed
 */
export function judgeOthers(before: Others, free: readonly FreeSession[] | null, now: number): Others {
  // While Postgres was away, no worker could renew its row, and the others may come back later than this one.
  const blindUntil = free === null ? now + BLIND_MILLISECONDS : before.blindUntil;
  if (free === null || now < blindUntil) return { suspects: [], dead: [], blindUntil };
  const seen = free.map(
    ({ id, renewals }) =>
      before.suspects.find((each) => each.id === id && each.renewals === renewals) ?? { id, renewals, since: now },
  );
  const isDead = ({ since }: Suspect): boolean => now - since >= FREE_MILLISECONDS;
  return { suspects: seen.filter((each) => !isDead(each)), dead: seen.filter(isDead), blindUntil };
}
