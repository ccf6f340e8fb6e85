import type { Client } from '@temporalio/client';
import { ringDoorbell } from '../../temporal/ring-doorbell.ts';
import { turnWorkflowId } from '../../turn/temporal-names.ts';
import { TEMPORAL_PATIENCE_MILLISECONDS, withPatience } from './patience.ts';

/** Rings the doorbells of conversations in the background. */
export interface Doorbell {
  ring(conversationId: string): void;
  /** The same beside a turn that is open in Postgres: it takes rows by itself, so it is rung only when its workflow is gone. */
  ringIfLost(conversationId: string): void;
  /** Waits up to 2 s for rings under way, then tells of each that has not arrived. */
  settle(): Promise<void>;
}

/** Temporal, connected to with the first ring, so that the database can be written to while it is out of reach. */
export interface RungTemporal {
  client(): Promise<Client>;
  /**
   * Refuses a database of another namespace, before the first write. One that Temporal does not name within 2 s is compared by its name
   * alone: rows are stored without Temporal too, and no ring reaches another namespace.
   * @throws StoreError `namespace_differs`
   */
  requireNamespace(): Promise<void>;
  /** Loads the modules of Temporal's client. */
  load(): Promise<unknown>;
}

/** @param failed told of each ring that did not arrive. */
export function createDoorbell(
  { temporal, taskQueue }: { temporal: RungTemporal; taskQueue: string },
  failed: (conversationId: string, error: unknown) => void,
): Doorbell {
  const underWay = new Map<Promise<void>, string>();
  let settled = false;
  const ring = async (conversationId: string): Promise<void> =>
    ringDoorbell(await temporal.client(), taskQueue, conversationId);
  const ringIfLost = async (conversationId: string): Promise<void> => {
    const [client, { isWorkflowOpen }] = await Promise.all([temporal.client(), import('../../temporal/newest-run.ts')]);
    if (!(await isWorkflowOpen(client, turnWorkflowId(conversationId)))) await ring(conversationId);
  };
  const inBackground = (conversationId: string, work: Promise<void>): void => {
    const ringing = work
      .catch((error: unknown) => (settled ? undefined : failed(conversationId, error)))
      .finally(() => underWay.delete(ringing));
    underWay.set(ringing, conversationId);
  };
  return {
    ring: (conversationId) => inBackground(conversationId, ring(conversationId)),
    ringIfLost: (conversationId) => inBackground(conversationId, ringIfLost(conversationId)),
    async settle() {
      // Temporal's time to answer begins when it can be asked: loading takes longer than that on a busy machine.
      if (underWay.size > 0) await temporal.load();
      await withPatience(Promise.all(underWay.keys()), []);
      settled = true;
      for (const conversationId of underWay.values()) {
        failed(conversationId, new Error(`Temporal did not answer within ${TEMPORAL_PATIENCE_MILLISECONDS} ms`));
      }
    },
  };
}
