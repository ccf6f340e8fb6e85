import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';

const { ringForWaitingMessages, repairLostTurns } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 3 },
});

/**
 * Runs on a schedule. Rows that nobody rang for come first: they are users who wait. Then turns
 * whose workflow Temporal no longer knows.
 */
export async function upkeep(): Promise<void> {
  await ringForWaitingMessages();
  await repairLostTurns();
}
