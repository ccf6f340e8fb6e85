import { condition } from '@temporalio/workflow';
import type { TurnProgress } from '../turn/carry-over.ts';
import type { TurnActivities } from './activity-options.ts';
import type { TurnDisplay } from './display.ts';
import { isHistoryLong } from './history-length.ts';
import { outsideTime } from './time-limits.ts';
import { runnableCalls } from './tool-calls.ts';

/** The database's clock decides what has expired; a timer that fires a moment too early looks again after this. */
const SHORTEST_WAIT_MILLISECONDS = 1_000;

/**
 * Waits until people have decided on all calls of the answer that ask for it, or time has. Rows in Postgres hold the
 * decisions; a ring makes the inbox count what still waits. No worker is held meanwhile. `history_full`: messages that came
 * meanwhile have filled the history, and the next run waits on.
 */
export async function awaitDecisions(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
): Promise<'decided' | 'history_full'> {
  const runnable = runnableCalls(progress);
  const input = {
    turn: progress.turn,
    callNumber: progress.callNumber,
    // JSON has no infinity.
    ...(runnable !== Infinity && { runnable }),
  };
  for (;;) {
    delete progress.decisionsWaiting;
    const open = await activities.requestDecisions(input);
    if (open.waiting === 0) break;
    // A look at the inbox beside it saw another count: something was decided, perhaps behind what was read here.
    const seen: number | undefined = progress.decisionsWaiting;
    if (seen !== undefined && seen !== open.waiting) continue;
    progress.decisionsWaiting = open.waiting;
    display.waitingForPeople(open);
    await outsideTime(progress, async () => {
      await condition(
        () => progress.decisionsWaiting !== open.waiting || isHistoryLong(),
        Math.max(open.expiresInMilliseconds, SHORTEST_WAIT_MILLISECONDS),
        { summary: open.questions === open.waiting ? 'answer of the user' : 'decision of the user' },
      );
    });
    if (isHistoryLong()) return 'history_full';
  }
  display.running();
  return 'decided';
}
