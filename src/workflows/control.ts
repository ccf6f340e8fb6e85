import {
  condition,
  defineSignal,
  setHandler,
  workflowInfo,
  ActivityFailure,
  isCancellation,
  CancellationScope,
} from '@temporalio/workflow';
import { atMost } from '../turn/limits.ts';
import type { TurnProgress } from '../turn/progress.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { TurnActivities } from './activity-options.ts';
import type { TurnDisplay } from './display.ts';

/** Tells a conversation's workflow that rows wait in Postgres. Carries nothing: the rows are the truth. */
const doorbell = defineSignal('doorbell');

/** Rings of this run so far. */
export type Rings = () => number;

/** Counts rings, so that whoever reads rows knows whether one came since. */
export function listenForDoorbell(): Rings {
  let rings = 0;
  setHandler(doorbell, () => {
    rings += 1;
  });
  return () => rings;
}

/** Looks for a stop once after each batch of rings, one look at a time, until `close`. */
export function watchForStop(
  activities: TurnActivities,
  turn: TurnReference,
  { rings, seen, stop }: { readonly rings: Rings; readonly seen: number; readonly stop: () => void },
): { readonly close: () => void; readonly ended: Promise<void> } {
  let closed = false;
  const watch = async (): Promise<void> => {
    for (let answered = seen; ;) {
      await condition(() => closed || rings() !== answered);
      if (closed) return;
      answered = rings();
      const { stopRequested } = await activities.lookForStop({ turn });
      if (stopRequested) stop();
    }
  };
  return {
    close: () => {
      closed = true;
    },
    ended: watch(),
  };
}

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

/**
 * Whoever takes a turn over replays the history of its run. Temporal suggests a new run after 4,096 events, whose replay takes
 * 2 s on an idle machine (facts/temporal.md §13); with twenty turns to take over at once on two cores that passes the timeout of
 * a workflow task, and the turns stand still for minutes (measured by the soak).
 */
const LONG_HISTORY_EVENTS = 1_000;

/** Whether the turn goes on in a new run. Asked between steps, and while people are waited for. */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= LONG_HISTORY_EVENTS;
}

/**
 * Whether an error says that a scope was cancelled. An activity whose worker dies, or that fails, after its cancellation was
 * asked for is not tried again: Temporal then reports the death or the failure, and that it is final because of the cancellation.
 */
export function isStop(error: unknown): boolean {
  return isCancellation(error) || (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED');
}

/**
 * Works on all items, on so many at once. When one fails for good, or a stop comes, the others are cancelled, and each gets its
 * time to end: what still finishes is kept.
 * @param enough asked before each further item; `true`: the rest is left alone
 */
export async function sideBySide<Item>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  enough?: () => boolean,
): Promise<void> {
  const running: Promise<void>[] = [];
  const scope = new CancellationScope();
  const begin = (item: Item): Promise<void> => {
    const begun = work(item);
    running.push(begun);
    return begun;
  };
  try {
    await scope.run(() => atMost(limit, items, begin, enough));
  } catch (error) {
    scope.cancel();
    await Promise.allSettled(running);
    throw error;
  }
}
