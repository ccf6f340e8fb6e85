import { setTimeout as delay } from 'node:timers/promises';
import { isOutage } from '../../store/database/errors.ts';
import { describeError } from './activity-error.ts';
import type { Execution } from './activity-shell.ts';
import type { ActivityDependencies } from './dependencies.ts';

const FIRST_DELAY_MILLISECONDS = 100;
const LONGEST_DELAY_MILLISECONDS = 2_000;

/**
 * Does what must not fail because Postgres is away: stores an answer that was paid or the result of a tool that acted, and reads
 * what a tool is asked for. A retry of the activity would buy the answer a second time and would have to call the outcome of the
 * tool unknown, and a search that fails reads to the model as if nothing were there. Ends with the signal after one more try: that of
 * an activity (stop, time limit, shutdown), or the later one of `OutlastingWork`.
 * @param work must come to the same when it is done again, since a commit may lose its reply.
 */
export async function throughOutage<Result>(
  { logger }: Pick<ActivityDependencies, 'logger'>,
  { signal }: Pick<Execution, 'signal'>,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let wait = FIRST_DELAY_MILLISECONDS; ; wait = Math.min(wait * 2, LONGEST_DELAY_MILLISECONDS)) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || signal.aborted) throw error;
      logger.warn(describeError(error), 'Postgres is away: what is under way waits for it');
      // An abort ends the wait early; what then still cannot be done is given up above.
      await delay(wait, undefined, { signal }).catch(() => undefined);
    }
  }
}
