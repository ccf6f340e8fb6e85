import type { Client } from '@temporalio/client';
import type { Database } from '../store/database/database.ts';
import { isRungFor, noteArrival } from '../store/messages/rings.ts';
import type { RungMessage } from '../store/messages/rings.ts';
import { ringDoorbell } from '../temporal/ring-doorbell.ts';

/** Milliseconds that a closing client waits for rings under way; a row that was not rung for is found by upkeep. */
const CLOSE_PATIENCE_MILLISECONDS = 2_000;

/** Rings the doorbells of conversations in the background. */
export interface Doorbell {
  ring(conversationId: string): void;
  /** The same for a message, unless its turn was rung a moment ago and takes it without. */
  ringFor(message: RungMessage): void;
  /** Waits up to 2 s for rings under way, then tells of each that has not arrived. */
  settle(): Promise<void>;
}

/** Temporal, connected to with the first ring, so that the database can be written to while it is out of reach. */
export interface RungTemporal {
  client(): Promise<Client>;
  /** Refuses a database of another namespace, by its name; asks Postgres once. @throws StoreError `namespace_differs` */
  requireName(): Promise<void>;
  /** Loads the modules of Temporal's client. */
  load(): Promise<unknown>;
}

/** @param failed told of each ring that did not arrive. */
export function createDoorbell(
  { database, temporal, taskQueue }: { database: Database; temporal: RungTemporal; taskQueue: string },
  failed: (conversationId: string, error: unknown) => void,
): Doorbell {
  const underWay = new Map<Promise<void>, string>();
  let settled = false;
  const ring = async (conversationId: string): Promise<void> =>
    ringDoorbell(await temporal.client(), taskQueue, conversationId);
  const ringFor = async (message: RungMessage): Promise<void> => {
    // Rings are for speed, and these two for fewer of them: without an answer it is rung, and once more by upkeep.
    if (await isRungFor(database, message).catch(() => false)) return;
    await ring(message.conversationId);
    await noteArrival(database, message).catch(() => undefined);
  };
  const inBackground = (conversationId: string, work: Promise<void>): void => {
    const ringing = work
      .catch((error: unknown) => (settled ? undefined : failed(conversationId, error)))
      .finally(() => underWay.delete(ringing));
    underWay.set(ringing, conversationId);
  };
  return {
    ring: (conversationId) => inBackground(conversationId, ring(conversationId)),
    ringFor: (message) => inBackground(message.conversationId, ringFor(message)),
    async settle() {
      // Temporal's time to answer begins when it can be asked: loading takes longer than that on a busy machine.
      if (underWay.size > 0) await temporal.load();
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_PATIENCE_MILLISECONDS);
      });
      await Promise.race([Promise.all(underWay.keys()), patience]);
      clearTimeout(timer);
      settled = true;
      for (const conversationId of underWay.values()) {
        failed(conversationId, new Error(`Temporal did not answer within ${CLOSE_PATIENCE_MILLISECONDS} ms`));
      }
    },
  };
}
