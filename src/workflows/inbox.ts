import { allHandlersFinished, condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import type { InboxLook } from '../turn/activity-values.ts';
import type { TurnReference } from '../turn/turn-reference.ts';
import type { TurnActivities } from './activity-options.ts';

/** Tells a turn that rows wait in Postgres. Carries nothing: the rows are the truth. */
export const doorbell = defineSignal('doorbell');

/** Rings and returns when the workflow has looked: for a caller that wants to know that its row was seen. */
export const acknowledge = defineUpdate('acknowledge');

/** Counts rings and looks, so that many rings need one look and no ring goes unseen. */
export interface Inbox {
  /** All rings so far are answered: what follows reads the rows anyway. */
  markServed(): void;
  /** Looks once after each batch of rings, one look at a time, until `close`. */
  watch(turn: TurnReference, seen: (look: InboxLook) => void): Promise<void>;
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
    close: () => {
      closed = true;
    },
    async watch(turn, seen) {
      for (;;) {
        await condition(() => closed || rung !== served);
        if (closed) return;
        const ring = rung;
        const look = await activities.lookAtInbox({ conversationId: turn.conversationId, turn });
        served = ring;
        seen(look);
      }
    },
    async lookUntilQuiet(conversationId, turn) {
      for (;;) {
        const ring = rung;
        const look = await activities.lookAtInbox({ conversationId, turn });
        served = ring;
        await condition(allHandlersFinished);
        if (rung === ring) return look;
      }
    },
  };
}
