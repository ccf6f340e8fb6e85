import { allHandlersFinished, condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import type { InboxLook } from '../turn/activity-values.ts';
import type { TurnProgress } from '../turn/carry-over.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { TurnActivities } from './activity-options.ts';

/** Tells a turn that rows wait in Postgres. Carries nothing: the rows are the truth. */
export const doorbell = defineSignal('doorbell');

/** Rings and returns when the workflow has looked: for a caller that wants to know that its row was seen. */
export const acknowledge = defineUpdate('acknowledge');

/**
 * Runs what consumes rows of the inbox. A look beside it may have read them before and be reported after: it would have the
 * turn take what is taken, and answer once more with nothing to answer to.
 */
export async function consuming<Result>(progress: TurnProgress, work: () => Promise<Result>): Promise<Result> {
  progress.consumptions = (progress.consumptions ?? 0) + 1;
  try {
    return await work();
  } finally {
    progress.consumptions += 1;
  }
}

/** What a look says. `outdated`: rows were consumed meanwhile, and another look follows. */
export interface SeenInbox extends InboxLook {
  readonly outdated: boolean;
}

/** Counts rings and looks, so that many rings need one look and no ring goes unseen. */
export interface Inbox {
  /** All rings so far are answered: what follows reads the rows anyway. */
  markServed(): void;
  /** Whether a ring is not answered yet. */
  isRung(): boolean;
  /** Looks once after each batch of rings, one look at a time, until `close`. */
  watch(progress: TurnProgress, seen: (look: SeenInbox) => void): Promise<void>;
  close(): void;
  /**
   * Looks until no ring came during the look. The caller must return or continue as new without
   * another await: a ring after that starts the next turn (facts: 404 of 500 messages were lost otherwise).
   */
  lookUntilQuiet(conversationId: string, turn: TurnReference | null): Promise<InboxLook>;
}

export function openInbox(activities: TurnActivities): Inbox {
  let rung = 0;
  let served = 0;
  let closed = false;
  setHandler(doorbell, () => {
    rung += 1;
  });
  setHandler(acknowledge, async () => {
    const mine = (rung += 1);
    await condition(() => served >= mine);
  });
  return {
    markServed: () => {
      served = rung;
    },
    isRung: () => rung !== served,
    close: () => {
      closed = true;
    },
    async watch(progress, seen) {
      const { turn } = progress;
      const consumptions = (): number => progress.consumptions ?? 0;
      let again = false;
      for (;;) {
        await condition(() => closed || (consumptions() % 2 === 0 && again) || rung !== served);
        if (closed) return;
        const ring = rung;
        const before = consumptions();
        const look = await activities.lookAtInbox({ conversationId: turn.conversationId, turn });
        served = ring;
        const overlaps = before % 2 === 1 || consumptions() !== before;
        again = overlaps;
        seen({ ...look, outdated: again });
      }
    },
    async lookUntilQuiet(conversationId, turn) {
      for (;;) {
        const ring = rung;
        const look = await activities.lookAtInbox({ conversationId, turn });
        served = ring;
        // Who rang during the look waits for the next one; nobody who waits for this one may be left behind.
        if (rung === ring) await condition(allHandlersFinished);
        if (rung === ring) return look;
      }
    },
  };
}
