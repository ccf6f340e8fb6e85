import { setTimeout as delay } from 'node:timers/promises';
import { isOutage } from '../store/errors.ts';
import { describeError } from './activity-error.ts';
import type { Execution } from './activity-shell.ts';
import type { ActivityDependencies } from './dependencies.ts';

const FIRST_DELAY_MILLISECONDS = 100;
const LONGEST_DELAY_MILLISECONDS = 2_000;

/**
 * Stores what cannot be had again for nothing: an answer that was paid, the result of a tool that acted. While Postgres is
 * away it is kept here and offered again, because a retry of the activity would buy the answer a second time, and would
 * have to call the outcome of the tool unknown. Ends with the activity: on stop, time limit and shutdown.
 * @param store must return what is stored when it is called again, since a commit may lose its reply.
 */
export async function storeThroughOutage<Result>(
  { logger }: Pick<ActivityDependencies, 'logger'>,
  { signal }: Pick<Execution, 'signal'>,
  store: () => Promise<Result>,
): Promise<Result> {
  for (let wait = FIRST_DELAY_MILLISECONDS; ; wait = Math.min(wait * 2, LONGEST_DELAY_MILLISECONDS)) {
    try {
      return await store();
    } catch (error) {
      if (!isOutage(error) || signal.aborted) throw error;
      logger.warn(describeError(error), 'Postgres is away: a result waits for it');
      // An abort ends the wait early; what then still cannot be stored is given up above.
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  }
}
