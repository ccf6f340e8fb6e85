import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../src/store/database.ts';
import { readOpenSummaries } from './open-work.ts';
import type { Attempt, OpenActivity, OpenSummary } from './open-work.ts';

/** Milliseconds after which Temporal takes an activity without a heartbeat for lost (`src/workflows/activity-options.ts`). */
const HEARTBEAT_TIMEOUT = 5_000;
/** How old the last heartbeat may be when a process freezes: what activities and the worker's throttle keep between two. */
const OLDEST_HEARTBEAT = 1_500;
/** Milliseconds between a look at what is open and the blow, and back: what began there was met and not seen. */
const GAP = 1_000;

const READ_ATTEMPTS = 40;
const READ_PAUSE_MILLISECONDS = 100;

/** What a strike took from those who worked on it: only this may end as unknown, or be paid again. */
export interface Exposure {
  /** When it struck, and until when it kept what it struck from working; milliseconds since 1970. */
  readonly at: number;
  readonly until: number;
  readonly activities: readonly OpenActivity[];
  /** Summaries that were being written, of whichever worker: their activities tell. */
  readonly summaries: readonly OpenSummary[];
}

/** What was open at one moment. */
export type Look = Pick<Exposure, 'activities' | 'summaries'>;

/** Whether what is frozen for so long misses a heartbeat. Anything shorter goes on as if nothing had been. */
export function losesHeartbeat(milliseconds: number): boolean {
  return milliseconds >= HEARTBEAT_TIMEOUT - OLDEST_HEARTBEAT;
}

export function exposureOf(at: number, looks: readonly Look[], until = Date.now()): Exposure {
  return {
    at,
    until,
    activities: looks.flatMap(({ activities }) => activities),
    summaries: looks.flatMap(({ summaries }) => summaries),
  };
}

/** A strike that takes nothing away: a worker that is asked to go and has done its work, a short freeze. */
export function harmless(at: number): Exposure {
  return { at, until: at, activities: [], summaries: [] };
}

/** The strikes that met a try: its worker lost it then. A try that began between look and blow is met as well. */
export function strikesOn(
  exposures: readonly Exposure[],
  tried: Attempt & { readonly startedAt: number },
): readonly Exposure[] {
  return exposures.filter(({ at, until, activities }) =>
    activities.some(
      (activity) =>
        isSameActivity(activity, tried) &&
        (activity.attempt === tried.attempt ||
          (activity.attempt > tried.attempt && tried.startedAt >= at - GAP && tried.startedAt <= until + GAP)),
    ),
  );
}

/** The strikes that met a piece of work which is known by its activities only. */
export function strikesOnWork(
  exposures: readonly Exposure[],
  work: readonly Omit<Attempt, 'attempt'>[],
): readonly Exposure[] {
  return exposures.filter(({ activities }) =>
    activities.some((one) => work.some((other) => isSameActivity(one, other))),
  );
}

function isSameActivity(one: Omit<Attempt, 'attempt'>, other: Omit<Attempt, 'attempt'>): boolean {
  return one.runId === other.runId && one.activityId === other.activityId;
}

/** A claim of a tool call, as its row names it. */
export interface Claim {
  readonly workerIdentity: string;
  readonly runId: string;
  readonly attempt: number;
  readonly claimedAt: number;
  readonly finishedAt: number;
}

/**
 * The strikes that met a claimed call: on its worker, while it was open. One that was claimed between look and blow is seen afterwards
 * only, under its next attempt and with whoever has that.
 */
export function strikesOnClaim(exposures: readonly Exposure[], claim: Claim): readonly Exposure[] {
  const { runId, attempt, workerIdentity, claimedAt, finishedAt } = claim;
  return exposures.filter(
    ({ at, until, activities }) =>
      claimedAt <= until + GAP &&
      finishedAt >= at &&
      activities.some(
        (activity) =>
          activity.type === 'runTool' &&
          activity.runId === runId &&
          (activity.attempt === attempt
            ? activity.workerIdentity === workerIdentity
            : activity.attempt === attempt + 1 && claimedAt >= at - GAP),
      ),
  );
}

/** A server that was struck ends connections that were open before. */
export async function readSummariesThroughRestart(database: Database): Promise<readonly OpenSummary[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readOpenSummaries(database);
    } catch (error) {
      if (attempt === READ_ATTEMPTS) throw error;
      await delay(READ_PAUSE_MILLISECONDS);
    }
  }
}
