import type { Database } from '../src/store/database.ts';

/** How much of what the invariants are about happened: without compactions those of compactions say nothing. */
export interface ActivityCounts {
  /** Compactions by how they ended. */
  readonly compactions: Readonly<Record<string, number>>;
  /** Of the committed ones, those with a summary, those that a user asked for, and those after a reported overflow. */
  readonly summaries: number;
  readonly forcedCompactions: number;
  readonly overflowRecoveries: number;
  /** What users sent, by kind. */
  readonly messages: Readonly<Record<string, number>>;
}

export async function countActivity(database: Database): Promise<ActivityCounts> {
  const [compactions, [committed], messages] = await Promise.all([
    database<Counted[]>`select status as name, count(*)::int as count from compactions group by 1 order by 2 desc, 1`,
    database<Pick<ActivityCounts, 'summaries' | 'forcedCompactions' | 'overflowRecoveries'>[]>`
      select count(*) filter (where summary is not null)::int as summaries,
        count(*) filter (where reason = 'manual')::int as "forcedCompactions",
        count(*) filter (where reason = 'overflow')::int as "overflowRecoveries"
      from compactions where status = 'committed'`,
    database<Counted[]>`select kind as name, count(*)::int as count from messages group by 1 order by 2 desc, 1`,
  ]);
  const { summaries = 0, forcedCompactions = 0, overflowRecoveries = 0 } = committed ?? {};
  return {
    compactions: recordOf(compactions),
    summaries,
    forcedCompactions,
    overflowRecoveries,
    messages: recordOf(messages),
  };
}

export async function countOutcomes(database: Database): Promise<Record<string, number>> {
  return recordOf(
    await database<Counted[]>`
      select coalesce(outcome, 'open') as name, count(*)::int as count from turns group by 1 order by 2 desc, 1`,
  );
}

interface Counted {
  readonly name: string;
  readonly count: number;
}

function recordOf(rows: readonly Counted[]): Record<string, number> {
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}
