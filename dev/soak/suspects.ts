import type { Database } from '../../src/store/database/database.ts';
import type { Violation } from './violation.ts';

/** Milliseconds since 1970. */
export interface Interval {
  readonly since: number;
  readonly until: number;
}

/** What only a strike may cause: a model call that was paid again, or a tool call of which nobody knows whether it acted. */
export interface Suspect {
  readonly name: 'model_call_paid_again' | 'outcome_unknown';
  /** `turn:call`, `turn:branch` or `compaction:part` of a model call; the tool and `turn:call:index` of a tool call. */
  readonly key: string;
  readonly explainedBy: 'strike' | 'stop' | null;
}

type SuspectRow = Omit<Suspect, 'explainedBy'> & Interval & { readonly closedByStop: boolean };

/** All of them. A strike explains what was under way while it lasted; a stop, what it found open. */
export async function findSuspects(database: Database, strikes: readonly Interval[]): Promise<readonly Suspect[]> {
  const rows = [...(await readPaidAgain(database)), ...(await readUnknown(database))];
  return rows.map(({ name, key, since, until, closedByStop }) => {
    const isMet = strikes.some((strike) => strike.since <= until && strike.until >= since);
    return { name, key, explainedBy: isMet ? 'strike' : closedByStop ? 'stop' : null };
  });
}

export function unexplained(suspects: readonly Suspect[]): Violation[] {
  return suspects
    .filter(({ explainedBy }) => explainedBy === null)
    .map(({ name, key }) => ({ name, found: `${key}: no strike met it and no stop closed it` }));
}

/** Each try but the last of a call, until the next one began. Where a step's call was left without an answer, the next number asks again. */
function readPaidAgain(database: Database): Promise<readonly SuspectRow[]> {
  return database<SuspectRow[]>`
    with tries as (
      select *, case purpose when 'step' then turn_id || ':' || call_number else compaction_id || ':' || part end as key
      from model_attempts where state <> 'failed' or failure_kind in ('superseded', 'lost'))
    select 'model_call_paid_again' as name, key, ${milliseconds(database, 'started_at')} as since,
      ${milliseconds(database, 'next_at')} as until, false as "closedByStop"
    from (
      select t.key, t.started_at, coalesce(lead(t.started_at) over (partition by t.key order by t.started_at), (
          select min(n.started_at) from model_attempts n
          where t.purpose = 'step' and n.purpose = 'step' and n.turn_id = t.turn_id and n.call_number > t.call_number
            and not exists (select from tries a where a.key = t.key and a.entry_id is not null))) as next_at
      from tries t) as repeated
    where next_at is not null order by key, since`;
}

function readUnknown(database: Database): Promise<readonly SuspectRow[]> {
  return database<SuspectRow[]>`
    select 'outcome_unknown' as name, t.name || ' ' || t.turn_id || ':' || t.call_number || ':' || t.call_index as key,
      ${milliseconds(database, 't.claimed_at')} as since, ${milliseconds(database, 't.finished_at')} as until,
      u.outcome = 'stopped' and exists (
        select from messages m
        where m.turn_id = u.id and m.kind = 'stop' and m.created_at <= t.finished_at) as "closedByStop"
    from tool_calls t join turns u on u.id = t.turn_id where t.outcome = 'outcome_unknown' order by key`;
}

function milliseconds(database: Database, column: string) {
  return database`extract(epoch from ${database(column)})::float8 * 1000`;
}
