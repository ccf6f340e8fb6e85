import type { Attempt, OpenActivity, OpenSummary } from './open-work.ts';

/** What was open at one moment. */
export interface Look {
  readonly activities: readonly OpenActivity[];
  /** Summaries that were being written, by whichever worker: their activities tell. */
  readonly summaries: readonly OpenSummary[];
}

/** What a strike took from its workers: only this may end as unknown, or be paid again. */
export interface Exposure extends Look {
  /** From just before the strike until just after the last look at what it hit; milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
}

export function exposureOf(since: number, looks: readonly Look[], until = Date.now()): Exposure {
  return {
    since,
    until,
    activities: looks.flatMap(({ activities }) => activities),
    summaries: looks.flatMap(({ summaries }) => summaries),
  };
}

/** The strikes that met a try of a model call, also one that began during the strike and was not seen before its successor. */
export function strikesOn(
  exposures: readonly Exposure[],
  tried: Attempt & { readonly startedAt: number },
): readonly Exposure[] {
  return exposures.filter((exposure) =>
    exposure.activities.some(
      (activity) =>
        isSameActivity(activity, tried) &&
        (activity.attempt === tried.attempt ||
          (activity.attempt > tried.attempt && isWithin(tried.startedAt, exposure))),
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

function isWithin(time: number, { since, until }: Exposure): boolean {
  return time >= since && time <= until;
}

/** A claim of a tool call, as its row names it. */
export interface Claim {
  readonly workerIdentity: string;
  readonly runId: string;
  readonly attempt: number;
  readonly claimedAt: number;
  readonly finishedAt: number;
}

/** The strikes that met a claimed call: on its worker while it was open, or during the strike and seen only as its next attempt. */
export function strikesOnClaim(exposures: readonly Exposure[], claim: Claim): readonly Exposure[] {
  const { runId, attempt, workerIdentity, claimedAt, finishedAt } = claim;
  return exposures.filter((exposure) =>
    exposure.activities.some((activity) => {
      if (activity.type !== 'runTool' || activity.runId !== runId) return false;
      if (activity.attempt === attempt + 1) return isWithin(claimedAt, exposure);
      const wasOpen = claimedAt <= exposure.until && finishedAt >= exposure.since;
      return activity.attempt === attempt && activity.workerIdentity === workerIdentity && wasOpen;
    }),
  );
}
