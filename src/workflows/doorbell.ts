import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { TurnActivities } from './activity-options.ts';

/** Tells a conversation's workflow that rows wait in Postgres. Carries nothing: the rows are the truth. */
export const doorbell = defineSignal('doorbell');

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
