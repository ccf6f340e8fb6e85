import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { ActivityDependencies } from '../activities/runtime/dependencies.ts';
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
/** How long an idle worker may still have a conversation's workflow in memory. */
const REMEMBER_MILLISECONDS = 60_000;
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

interface Worked {
  open: number;
  /** By `performance.now()`. */
  endedAt: number;
}

/** Shows that this worker lives, and takes over the work of dead workers. */
export class WorkerSession {
  readonly #dependencies: SessionDependencies;
  readonly #conversations = new Map<string, Worked>();
  #isEnding = false;
  #isHeld = false;
  #isWarned = false;
  #holding: Promise<void> | null = null;
  #suspicions: readonly Suspicion[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;
  #isDue = false;

  constructor(dependencies: SessionDependencies) {
    this.#dependencies = dependencies;
    this.#lookNow();
  }

  /** Resolves when other workers would notice this worker's death, at the latest after a second. */
  async ready(): Promise<void> {
    const ready = async (): Promise<void> => {
      await this.#holding;
      await this.#tell();
    };
    await within(ready());
  }

  /** Marks that the worker works on the conversation. */
  worksOn(conversationId: string): ReturnType<ActivityDependencies['worksOn']> {
    const known = this.#conversations.get(conversationId);
    const worked = known ?? { open: 0, endedAt: 0 };
    worked.open += 1;
    this.#conversations.set(conversationId, worked);
    return {
      told: known === undefined ? within(this.#tell()) : null,
      done: () => {
        worked.open -= 1;
        worked.endedAt = performance.now();
      },
    };
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
    await within(leave().catch(() => undefined));
    await sessionDatabase?.end({ timeout: 1 });
    await this.#holding;
  }

  /** Writes the row as the worker is now. A running look may have begun before. */
  async #tell(): Promise<void> {
    await this.#looking;
    this.#lookNow();
    await this.#looking;
  }

  #lookNow(): void {
    if (this.#looking !== null) {
      this.#isDue = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#isDue = false;
    this.#looking = this.#look().finally(() => {
      this.#looking = null;
      if (this.#isEnding) return;
      const wait = this.#suspicions.length > 0 ? SUSPICIOUS_MILLISECONDS : RENEW_MILLISECONDS;
      this.#timer = setTimeout(() => this.#lookNow(), this.#isDue ? 0 : wait);
    });
  }

  async #look(): Promise<void> {
    const { database, sessionDatabase, identity, logger } = this.#dependencies;
    if (!this.#isHeld && sessionDatabase !== null) this.#holding ??= this.#hold(sessionDatabase);
    try {
      const free = await renewSession(database, identity, this.#isHeld ? recent(this.#conversations) : null);
      if (free.some(({ id }) => id === identity)) this.#isHeld = false;
      const others = free.filter(({ id }) => id !== identity);
      const { suspicions, dead } = judgeSessions(this.#suspicions, others, performance.now());
      this.#suspicions = suspicions;
      for (const each of dead) await succeed(this.#dependencies, each);
    } catch (error) {
      // While Postgres was away, no worker could renew its row.
      this.#suspicions = [];
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

/** While Postgres is away, no query answers. */
async function within(work: Promise<void>): Promise<void> {
  await Promise.race([work, pause(PATIENCE_MILLISECONDS, undefined, { ref: false })]);
}

/** Conversations with recent work. Forgets the others. */
function recent(conversations: Map<string, Worked>): string[] {
  const since = performance.now() - REMEMBER_MILLISECONDS;
  for (const [id, { open, endedAt }] of conversations) if (open === 0 && endedAt < since) conversations.delete(id);
  return [...conversations.keys()];
}

/** Takes over from a dead worker: its attempts end, and any worker gets the next ones. */
async function succeed({ database, client, logger }: SessionDependencies, dead: Suspicion): Promise<void> {
  let attempts = 0;
  try {
    const isDone = await takeOverSession(database, dead, async (worked, open) => {
      const release = (isHeld: boolean) => async (conversationId: string) => {
        const released = await releaseWork(client, dead.id, { conversationId, isHeld });
        attempts += released;
      };
      await atMost(RELEASED_AT_ONCE, worked, release(true));
      await atMost(RELEASED_AT_ONCE, open, release(false));
    });
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
