import { patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';

const { ringForWaitingMessages, repairLostTurns, indexFallenBehind, deleteExpired } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 3 },
});

/**
 * Runs on a schedule. Rows that nobody rang for come first: they are users who wait. Then turns
 * whose workflow Temporal no longer knows. Then, time-boxed, what search has not indexed yet, and
 * what retention no longer keeps.
 */
export async function upkeep(): Promise<void> {
  await ringForWaitingMessages();
  await repairLostTurns();
  if (patched('index-fallen-behind')) await indexFallenBehind();
  if (patched('delete-expired')) await deleteExpired();
}
