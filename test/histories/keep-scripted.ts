import type { Activities } from '../../src/activities/create-activities.ts';
import { newId } from '../../src/store/ids.ts';
import { turnWorkflowId } from '../../src/turn/workflow-id.ts';
import { ringDoorbell } from '../../src/temporal/ring-doorbell.ts';
import { scriptedActivities, startWorkerOfActivities } from '../workflows/support/worker-of-activities.ts';
import { keepRuns } from './keep-runs.ts';

interface Rings {
  ring(): Promise<void>;
  /** Returns once the workflow has looked. */
  acknowledgedRing(): Promise<unknown>;
  /** Temporal's own. */
  cancel(): Promise<unknown>;
}

/**
 * Keeps the histories of a turn whose activities are scripted: what must happen at the same time, and seldom does.
 * `meanwhile`: what happens beside the turn, once it was rung for.
 */
export async function keepScripted(
  address: string,
  name: string,
  script: (rings: Rings) => Partial<Activities>,
  meanwhile: (rings: Rings) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const conversationId = newId();
  const workflowId = turnWorkflowId(conversationId);
  const rings: Rings = {
    ring: () => ringDoorbell(worker.temporal, worker.taskQueue, conversationId),
    acknowledgedRing: () => worker.temporal.workflow.getHandle(workflowId).executeUpdate('acknowledge'),
    cancel: () => worker.temporal.workflow.getHandle(workflowId).cancel(),
  };
  const worker = await startWorkerOfActivities(address, scriptedActivities(script(rings)));
  try {
    await rings.ring();
    await meanwhile(rings);
    await keepRuns(name, workflowId, worker.temporal);
  } finally {
    await worker.stop();
  }
}
