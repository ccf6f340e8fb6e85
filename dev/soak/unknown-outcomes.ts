import type { Database } from '../../src/store/database/database.ts';
import { strikesOnClaim } from './exposure.ts';
import type { Claim, Exposure } from './exposure.ts';
import type { Violation } from './violation.ts';

/** A tool call of which nobody knows whether it acted. */
export interface UnknownCall {
  /** `turn:call:index`. */
  readonly key: string;
  readonly tool: string;
  readonly explainedBy: 'strike' | 'stop' | null;
}

interface UnknownRow extends Claim {
  readonly key: string;
  readonly tool: string;
  /** Whether it was open when somebody stopped its turn. */
  readonly closedByStop: boolean;
}

/** All calls with an unknown outcome, each with what explains it. */
export async function judgeUnknownOutcomes(
  database: Database,
  exposures: readonly Exposure[],
): Promise<readonly UnknownCall[]> {
  const rows = await database<UnknownRow[]>`
    select t.turn_id || ':' || t.call_number || ':' || t.call_index as key, t.name as tool,
      coalesce(t.worker_identity, '') as "workerIdentity", coalesce(t.claim_run_id, '') as "runId", coalesce(t.claim_attempt, 0) as attempt,
      extract(epoch from t.claimed_at)::float8 * 1000 as "claimedAt", extract(epoch from t.finished_at)::float8 * 1000 as "finishedAt",
      u.outcome = 'stopped' and exists (
        select from messages m
        where m.turn_id = u.id and m.kind = 'stop' and m.created_at <= t.finished_at) as "closedByStop"
    from tool_calls t join turns u on u.id = t.turn_id where t.outcome = 'outcome_unknown'
    order by t.turn_id, t.call_number, t.call_index`;
  return rows.map(({ key, tool, closedByStop, ...claim }) => {
    if (strikesOnClaim(exposures, claim).length > 0) return { key, tool, explainedBy: 'strike' };
    return { key, tool, explainedBy: closedByStop ? 'stop' : null };
  });
}

export function unexplained(calls: readonly UnknownCall[]): Violation[] {
  return calls
    .filter(({ explainedBy }) => explainedBy === null)
    .map(({ key, tool }) => ({
      name: 'outcome_unknown',
      found: `${tool} ${key}: no strike met it and no stop closed it`,
    }));
}
