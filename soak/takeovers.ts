import type { Client } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { readPending } from './open-work.ts';
import type { OpenActivity } from './open-work.ts';

const POLL_MILLISECONDS = 250;
/** An activity that has not gone on by then counts as long as this. */
const LONGEST_MILLISECONDS = 120_000;

export interface Takeover {
  /** From the strike until all activities that it hit have gone on: each has ended, or started again. Exact to a quarter of a second. */
  readonly milliseconds: number;
  /** The one that went on last. */
  readonly last: OpenActivity | null;
}

export async function measureTakeover(
  temporal: Client,
  hit: readonly OpenActivity[],
  struckAt: number,
): Promise<Takeover> {
  const takeovers = await Promise.all(
    hit.map(async (last) => ({ milliseconds: await measureOne(temporal, last, struckAt), last })),
  );
  return takeovers.reduce((longest, next) => (next.milliseconds > longest.milliseconds ? next : longest), {
    milliseconds: 0,
    last: null,
  } satisfies Takeover as Takeover);
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
    const isWaitingToRunAgain = same !== undefined && same.state !== 2;
    if (same === undefined || (same.attempt > hit.attempt && !isWaitingToRunAgain)) return elapsed;
  }
}
