import { setTimeout as pause } from 'node:timers/promises';
import { describeError } from '../activities/runtime/failures.ts';
import { alone } from '../store/upkeep/alone.ts';
import { lookAfterConversations } from './upkeep.ts';
import type { UpkeepDependencies } from './upkeep.ts';

/** Milliseconds between two deletions of old rows by one worker. */
const RETENTION_MILLISECONDS = 600_000;
/**
 * Milliseconds between two looks of one worker. A message whose ring was lost waits 5 s and then at most this long, or until the end of a
 * look.
 */
const INTERVAL_MILLISECONDS = 10_000;

/** Longest wait for a server that does not answer, at the end. */
const END_MILLISECONDS = 5_000;

export interface Upkeep {
  /** Looks once, unless another worker of the queue is looking. */
  look(): Promise<void>;
  /** Ends the looks, after a short wait for a running one. */
  end(): Promise<void>;
}

/**
 * Looks after the conversations of the worker's queue every ten seconds, in one of its workers at a time.
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

/** Whether the interval has passed since the last time it was due; true at first. */
export function dueEach(milliseconds: number): (now: number) => boolean {
  let due = -Infinity;
  return (now) => {
    if (now < due) return false;
    due = now + milliseconds;
    return true;
  };
}
