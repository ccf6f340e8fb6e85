import { setTimeout as pause } from 'node:timers/promises';
import { describeError } from '../activities/runtime/failures.ts';
import type { Database } from '../store/database/database.ts';
import { lookAfterConversations } from './upkeep.ts';
import type { UpkeepDependencies } from './upkeep.ts';

/** Between two looks of a worker at what is too old. */
const RETENTION_MILLISECONDS = 600_000;
/** Between two looks of a worker. A message that nobody rang for waits 5 s, then at most this long, or for the end of a look. */
const INTERVAL_MILLISECONDS = 10_000;
/** Of the transaction that holds the lock: a worker that is frozen in the middle of a look keeps the others from theirs for so long. */
const LOCK_MILLISECONDS = 60_000;

/** Until a call of a server that does not answer is waited for no longer. */
const END_MILLISECONDS = 5_000;

/** Upkeep of one worker. */
export interface Upkeep {
  /** One look, unless another worker of the queue is at it. */
  look(): Promise<void>;
  /** Ends the looks, and waits a little for the one under way. */
  end(): Promise<void>;
}

/**
 * Looks after the conversations of the worker's queue every ten seconds: of all its workers one at a time.
 * @param isTimed `false`: only when `look` is called
 */
export function startUpkeep(dependencies: UpkeepDependencies, isTimed = true): Upkeep {
  const { database, taskQueue, logger } = dependencies;
  const ending = new AbortController();
  let current: Promise<void> | null = null;
  const isRetentionDue = dueEach(RETENTION_MILLISECONDS);
  const lookAfter = async (): Promise<void> =>
    lookAfterConversations(dependencies, ending.signal, isRetentionDue(performance.now()));
  const look = async (): Promise<void> => {
    current ??= alone(database, `upkeep ${taskQueue}`, lookAfter)
      .catch((error: unknown) => {
        if (!ending.signal.aborted) logger.warn(describeError(error), 'upkeep failed; its next look tries again');
      })
      .finally(() => (current = null));
    return current;
  };
  const timer = isTimed ? setInterval(() => void look(), INTERVAL_MILLISECONDS) : undefined;
  return {
    look,
    async end() {
      clearInterval(timer);
      ending.abort();
      await Promise.race([current, pause(END_MILLISECONDS, undefined, { ref: false })]);
    },
  };
}

/** Says once for each so many milliseconds that something is due: at first, and when they have passed since it last did. */
export function dueEach(milliseconds: number): (now: number) => boolean {
  let due = -Infinity;
  return (now) => {
    if (now < due) return false;
    due = now + milliseconds;
    return true;
  };
}

/** Does the work under a lock that one process has at a time; nothing when another one has it. */
async function alone(database: Database, name: string, work: () => Promise<void>): Promise<void> {
  await database.begin(async (open) => {
    await open`select set_config('idle_in_transaction_session_timeout', ${String(LOCK_MILLISECONDS)}, true)`;
    const [row] = await open<{ isFree: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as "isFree"`;
    if (row?.isFree === true) await work();
  });
}
