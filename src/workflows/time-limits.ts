import { condition } from '@temporalio/workflow';
import type { TurnProgress } from '../turn/carry-over.ts';
import type { TurnActivities } from './activity-options.ts';

/**
 * Calls `reached` once a limit of time is reached; ends with `close`. Postgres says how much is left, and decides when the timer has
 * fired: news may have come meanwhile. One timer at a time, none without such a limit or while people are to decide.
 */
export function watchTimeLimits(
  activities: TurnActivities,
  progress: TurnProgress,
  reached: (reason: string) => void,
): { readonly close: () => void; readonly ended: Promise<void> } {
  const { isTimed, branchRequested } = progress.settings;
  // A change of branch does no work that a limit of time is for.
  let closed = isTimed !== true || branchRequested === true;
  const watch = async (): Promise<void> => {
    for (;;) {
      await condition(() => closed || !progress.waitsForPeople);
      if (closed) return;
      const { reason, milliseconds } = await activities.readTimeLeft({ turn: progress.turn });
      if (milliseconds <= 0) {
        reached(reason);
        return;
      }
      await condition(() => closed || progress.waitsForPeople, milliseconds, { summary: 'limit of time' });
    }
  };
  return {
    close: () => {
      closed = true;
    },
    ended: watch(),
  };
}
