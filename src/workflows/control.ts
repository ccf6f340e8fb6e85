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

/** Tells a workflow that rows wait in Postgres. The signal carries nothing, because the rows are the truth. */
const doorbell = defineSignal('doorbell');

/** Number of rings in this run. */
export type Rings = () => number;

/** Counts rings, so that a reader of rows knows whether another one came. */
export function listenForDoorbell(): Rings {
  let rings = 0;
  setHandler(doorbell, () => {
    rings += 1;
  });
  return () => rings;
}

/** Looks for a stop after each batch of rings, one look at a time, until `close`. */
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
 * Calls `reached` when a limit of time is reached, until `close`. When the timer fires, Postgres decides, because progress may have come
 * meanwhile. One timer at a time; none without such a limit or while people decide.
 */
export function watchTimeLimits(
  activities: TurnActivities,
  progress: TurnProgress,
  reached: (reason: string) => void,
): { readonly close: () => void; readonly ended: Promise<void> } {
  const { isTimed, branchRequested } = progress.settings;
  // A change of branch does no work that a limit of time covers.
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

/** The database's clock decides what has expired. A timer that fires too early looks again after this. */
const SHORTEST_WAIT_MILLISECONDS = 1_000;

/**
 * Waits until people have decided on all asking calls of the answer, or until they expire. Postgres holds the decisions, and each ring
 * counts them anew. No worker is held meanwhile.
 * `history_full`: rings have filled the history, and the next run waits on.
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
 * A takeover replays the history of a run. Temporal suggests a new run after 4,096 events, whose replay takes 2 s on an idle machine
 * (facts/temporal.md §13). The soak measured: with twenty takeovers at once on two cores, the replay exceeds the timeout of a workflow
 * task, and the turns stand still for minutes.
 */
const LONG_HISTORY_EVENTS = 1_000;

/** Whether the turn should continue in a new run. Asked between steps and while waiting for people. */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= LONG_HISTORY_EVENTS;
}

/**
 * Whether an error means that a scope was cancelled. Temporal does not retry an activity whose worker dies, or that fails, after the
 * cancel. It then reports this death or failure, with the cancel as the reason that it is final.
 */
export function isStop(error: unknown): boolean {
  return isCancellation(error) || (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED');
}

/**
 * Works on all items, a limited number at once. If one fails permanently, or a stop comes, the others are cancelled and may still finish:
 * their results are kept.
 * @param enough asked before each further item; `true` leaves the rest alone
 */
export async function sideBySide<Item>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  enough?: () => boolean,
): Promise<void> {
  const [only] = items;
  // It has no siblings. Most steps call one tool, and each promise of a workflow costs a look at the stack.
  if (only !== undefined && items.length === 1) return work(only);
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
