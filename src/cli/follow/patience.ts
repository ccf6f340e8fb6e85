import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '../../client/holdfast.ts';
import type { WatchOptions, WatchUpdate } from '../../client/types.ts';
import { isDatabaseOutage } from '../describe-error.ts';

/** How long a watcher bears a Postgres that does not answer: the turn survives longer outages, a watcher need not. */
const PATIENCE_MILLISECONDS = 60_000;
const RETRY_MILLISECONDS = 1_000;

/** Reads on when Postgres answers again after an outage. */
export interface Patience {
  /** The work's result; it is done again while Postgres does not answer. @throws what the work throws, an outage after 60 s */
  through<Result>(work: () => Promise<Result>): Promise<Result>;
  /** As the client's `watch`, events each once also over outages. */
  watch(options: WatchOptions): AsyncIterable<WatchUpdate>;
}

/** @param trouble told of each failure in an outage */
export function createPatience(
  client: { readonly conversation: Pick<Holdfast['conversation'], 'watch'> },
  signal: AbortSignal,
  trouble: () => void,
): Patience {
  let failingSince: number | null = null;
  const bear = async (error: unknown): Promise<void> => {
    if (signal.aborted || !isDatabaseOutage(error)) throw error;
    failingSince ??= performance.now();
    if (performance.now() - failingSince > PATIENCE_MILLISECONDS) throw error;
    trouble();
    // An abort ends the pause and shows at the next try.
    await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
  };
  return {
    async through(work) {
      for (;;) {
        try {
          const result = await work();
          failingSince = null;
          return result;
        } catch (error) {
          await bear(error);
        }
      }
    },
    async *watch(options) {
      let { afterSequence = 0 } = options;
      while (!signal.aborted) {
        try {
          for await (const update of client.conversation.watch({ ...options, afterSequence, signal })) {
            failingSince = null;
            if (update.type === 'event') afterSequence = update.event.sequence;
            yield update;
          }
          return;
        } catch (error) {
          await bear(error);
        }
      }
    },
  };
}
