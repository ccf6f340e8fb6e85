import { condition } from '@temporalio/workflow';
import type { TurnProgress } from '../turn/carry-over.ts';
import type { TurnActivities } from './activity-options.ts';
import type { TurnDisplay } from './display.ts';
import type { Rings } from './doorbell.ts';
import { isHistoryLong } from './history-length.ts';

/** The database's clock decides what has expired; a timer that fires a moment too early looks again after this. */
const SHORTEST_WAIT_MILLISECONDS = 1_000;

/**
 * Waits until people have decided on all calls of the answer that ask for it, or time has. Rows in Postgres hold the
 * decisions; after each ring they are counted anew. No worker is held meanwhile. `history_full`: rings have filled the history,
 * and the next run waits on.
 */
export async function awaitDecisions(
  activities: TurnActivities,
  progress: TurnProgress,
  display: TurnDisplay,
  { rings, runnable }: { readonly rings: Rings; readonly runnable: number },
): Promise<'decided' | 'history_full'> {
  const input = { turn: progress.turn, callNumber: progress.callNumber, runnable };
  for (;;) {
    const seen = rings();
    const open = await activities.requestDecisions(input);
    if (open.waiting === 0) break;
    display.waitingForPeople(open);
    progress.waitsForPeople = true;
    try {
      await condition(
        () => rings() !== seen || isHistoryLong(),
        Math.max(open.expiresInMilliseconds, SHORTEST_WAIT_MILLISECONDS),
        { summary: open.questions === open.waiting ? 'answer of the user' : 'decision of the user' },
      );
    } finally {
      progress.waitsForPeople = false;
    }
    if (isHistoryLong()) return 'history_full';
  }
  display.running();
  return 'decided';
}
