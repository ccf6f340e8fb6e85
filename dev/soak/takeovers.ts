import type { Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { readPending, STARTED } from './open-work.ts';
import type { OpenActivity, PendingActivity } from './open-work.ts';

const POLL_MILLISECONDS = 250;
/** An activity that has not gone on by then counts as long as this. */
const LONGEST_MILLISECONDS = 120_000;

/**
 * Milliseconds from the strike until all activities that it hit have gone on: each has ended, or started again. Exact to a quarter of
 * a second.
 */
export async function measureTakeover(
  temporal: Client,
  hit: readonly OpenActivity[],
  struckAt: number,
): Promise<number> {
  return Math.max(0, ...(await Promise.all(hit.map((activity) => measureOne(temporal, activity, struckAt)))));
}

async function measureOne(temporal: Client, hit: OpenActivity, struckAt: number): Promise<number> {
  for (;;) {
    await delay(POLL_MILLISECONDS);
    const elapsed = Date.now() - struckAt;
    if (elapsed > LONGEST_MILLISECONDS) return elapsed;
    // A server that does not answer has not gone on.
    const pending = await readPending(temporal, hit.workflowId).catch(() => null);
    if (pending === null) continue;
    const same = pending.find(({ runId, activityId }) => runId === hit.runId && activityId === hit.activityId);
    if (same === undefined || hasGoneOn(same, hit)) return elapsed;
  }
}

/** The next attempt runs, or has run: one that finds its provider away waits for it between attempts. */
function hasGoneOn({ attempt, state }: PendingActivity, hit: OpenActivity): boolean {
  return attempt > hit.attempt + 1 || (attempt > hit.attempt && state === STARTED);
}
