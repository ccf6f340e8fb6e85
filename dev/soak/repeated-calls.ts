import type { Database } from '../../src/store/database/database.ts';
import type { RepeatedCall } from '../../src/verify/verify.ts';
import { strikesOn, strikesOnWork } from './exposure.ts';
import type { Exposure } from './exposure.ts';
import { MODEL_ACTIVITIES } from './open-work.ts';
import type { Attempt } from './open-work.ts';
import type { Violation } from './violation.ts';

/** A model call that was paid more than once. */
export interface RepeatedModelCall {
  /** `turn:call`, `compaction:part`, or `turn:branch` of a branch summary. */
  readonly key: string;
  readonly tries: number;
  /** Of the tries but the last, those that a strike took from their worker. */
  readonly met: number;
}

export interface RepeatedModelCalls {
  readonly calls: number;
  /** Tries beyond the first of each. */
  readonly extraTries: number;
  /** Of them, those that strikes explain. */
  readonly met: number;
  /** Model calls that strikes took from their workers, paid again or not, each once for a strike. */
  readonly exposed: number;
  readonly list: readonly RepeatedModelCall[];
}

/** A try of a step's own call, as its row names it. */
export interface ModelTry extends Attempt {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** What rows know of those who asked. */
export interface ModelTries {
  /** Of calls of steps: every try that may have been paid, in order. */
  readonly calls: readonly ModelTry[];
  /** Of summaries: who tried last. */
  readonly summaries: readonly (Attempt & { readonly key: string })[];
}

export function keyOfRepeated({ turnId, callNumber, summary }: RepeatedCall): string {
  if (summary === null) return `${turnId}:${callNumber}`;
  return summary.compactionId === null ? `${turnId}:branch` : `${summary.compactionId}:${summary.part}`;
}

export async function readModelTries(database: Database): Promise<ModelTries> {
  const [calls, summaries] = await Promise.all([
    database<ModelTry[]>`
      select turn_id || ':' || call_number as key, (registered_by).run_id as "runId",
        (registered_by).activity_id as "activityId", (registered_by).attempt,
        extract(epoch from started_at)::float8 * 1000 as "startedAt"
      from model_attempts
      where purpose = 'step' and (state <> 'failed' or failure_kind in ('superseded', 'lost'))
      order by turn_id, call_number, model_attempts.attempt`,
    database<(Attempt & { key: string })[]>`
      select distinct on (key) coalesce(compaction_id || ':' || part, turn_id || ':branch') as key,
        (registered_by).run_id as "runId", (registered_by).activity_id as "activityId", (registered_by).attempt
      from model_attempts m where purpose <> 'step' order by key, m.attempt desc`,
  ]);
  return { calls, summaries };
}

/**
 * Judges each call by itself. A try of a step's call is explained by a strike that met the very attempt that registered it; of a
 * summary only the newest try is known, so each strike that met one of its activities explains one try.
 */
export function judgeRepeated(
  repeated: readonly { readonly key: string; readonly tries: number }[],
  { calls, summaries }: ModelTries,
  exposures: readonly Exposure[],
): RepeatedModelCalls {
  const list = repeated.map(({ key, tries }): RepeatedModelCall => {
    const own = calls.filter((call) => call.key === key);
    if (own.length > 0) {
      const met = own.slice(0, tries - 1).filter((tried) => strikesOn(exposures, tried).length > 0).length;
      return { key, tries, met };
    }
    const seen = exposures.flatMap((exposure) => exposure.summaries);
    const activities = [...summaries, ...seen].filter((summary) => summary.key === key);
    return { key, tries, met: Math.min(tries - 1, strikesOnWork(exposures, activities).length) };
  });
  return {
    calls: list.length,
    extraTries: list.reduce((sum, { tries }) => sum + tries - 1, 0),
    met: list.reduce((sum, { met }) => sum + met, 0),
    exposed: exposures.reduce((sum, exposure) => sum + countModelWork(exposure), 0),
    list,
  };
}

/** A second look at the same strike sees the same work again. */
function countModelWork({ activities }: Exposure): number {
  const asking = activities.filter(({ type }) => MODEL_ACTIVITIES.has(type));
  return new Set(asking.map(({ runId, activityId }) => `${runId}/${activityId}`)).size;
}

/** Each call that was paid again without a strike that took it from its worker. */
export function paidTooOften({ list }: RepeatedModelCalls): Violation[] {
  return list
    .filter(({ tries, met }) => tries - 1 > met)
    .map(({ key, tries, met }) => ({
      name: 'model_call_paid_again',
      found: `${key}: ${tries} tries, ${met} of them lost to a strike`,
    }));
}
