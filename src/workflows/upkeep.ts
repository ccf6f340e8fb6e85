import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';

/** Activities that the Temporal UI shows with a word on what they do. */
const named = (summary: string) =>
  proxyActivities<Activities>({
    startToCloseTimeout: '1 minute',
    heartbeatTimeout: '10 seconds',
    retry: { maximumAttempts: 3 },
    summary,
  });

const { ringForWaitingMessages } = named('messages that nobody rang for');
const { repairLostTurns } = named('turns that Temporal has lost');
const { indexFallenBehind } = named('texts to index');
const { deleteExpired } = named('what retention ends');

/**
 * Runs on a schedule. Rows that nobody rang for come first: they are users who wait. Then turns
 * whose workflow Temporal no longer knows. Then, time-boxed, what search has not indexed yet, and
 * what retention no longer keeps. What fails keeps nothing of the rest from its turn, and the run fails with it in the end.
 */
export async function upkeep(): Promise<void> {
  const failures: unknown[] = [];
  const apart = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      failures.push(error);
    }
  };
  await apart(ringForWaitingMessages);
  await apart(repairLostTurns);
  await apart(indexFallenBehind);
  await apart(deleteExpired);
  if (failures.length > 0) throw failures[0];
}
