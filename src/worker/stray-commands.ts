import type { Logger } from 'pino';
import { describeError } from '../activities/runtime/failures.ts';
import type { Database } from '../store/database/database.ts';
import { findFinishedCalls } from '../store/attempts/tool-call-rows.ts';
import { findMarkedCalls, killMarkedProcesses } from '../tools/process/end-processes.ts';

/** Milliseconds between two looks at the machine's processes. */
const INTERVAL_MILLISECONDS = 10_000;

/**
 * Ends processes that commands left on this machine, at once and every ten seconds. They carry the marker of a call that already has its
 * result. A worker ends its own commands. This is for commands of a killed worker, whose call was closed by a stop, the next turn, upkeep
 * or another worker.
 * @returns ends the looks
 */
export function endStrayCommands(database: Database, logger: Logger): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      for (const key of await findFinishedCalls(database, await findMarkedCalls())) {
        const processes = (await killMarkedProcesses(key)).length;
        logger.warn({ call: key, processes }, 'ended what a command had left running');
      }
    } catch (error) {
      logger.warn(describeError(error), 'could not look for what commands left running');
    } finally {
      isLooking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), INTERVAL_MILLISECONDS);
  return () => clearInterval(timer);
}
