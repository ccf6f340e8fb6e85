import { condition, patched } from '@temporalio/workflow';
import type { TurnProgress } from '../turn/carry-over.ts';
import type { TurnActivities } from './activity-options.ts';
import type { TurnDisplay } from './display.ts';
import { outsideTime } from './time-limits.ts';

/** The database's clock decides what has expired; a timer that fires a moment too early looks again after this. */
const SHORTEST_WAIT_MILLISECONDS = 1_000;

/**
 * Waits until people have decided on all calls of the answer that ask for it, or time has. Rows in Postgres hold the
 * decisions; a ring makes the inbox count what still waits. No worker is held meanwhile.
 */
export async function awaitDecisions(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
): Promise<void> {
  for (;;) {
    delete progress.decisionsWaiting;
    const open = await activities.requestDecisions({ turn: progress.turn, callNumber: progress.callNumber });
    if (open.waiting === 0) break;
    // A look at the inbox beside it saw another count: something was decided, perhaps behind what was read here.
    const seen: number | undefined = progress.decisionsWaiting;
    if (seen !== undefined && seen !== open.waiting && patched('decided-while-asking')) continue;
    progress.decisionsWaiting = open.waiting;
    display.waitingForPeople(open);
    await outsideTime(progress, async () => {
      await condition(
        () => progress.decisionsWaiting !== open.waiting,
        Math.max(open.expiresInMilliseconds, SHORTEST_WAIT_MILLISECONDS),
        { summary: open.questions === open.waiting ? 'answer of the user' : 'decision of the user' },
      );
    });
  }
  display.running();
}
