import { Context } from '@temporalio/activity';
import type { CrashPoint } from '../../src/activities/crash-points.ts';
import type { Database, Transaction } from '../../src/store/database.ts';
import type { WriteObserver } from '../../src/worker/start-worker.ts';

/** What one attempt of an activity did, in order: tables that it committed a change to, and crash points. */
export interface RecordedExecution {
  readonly activity: string;
  readonly steps: ({ readonly wrote: readonly string[] } | { readonly reached: CrashPoint })[];
}

/** Records each committed write and each crash point of every activity of a worker. */
export function recordWrites(): {
  readonly observer: WriteObserver;
  readonly executions: () => readonly RecordedExecution[];
} {
  const executions = new Map<string, RecordedExecution>();
  const note = (step: RecordedExecution['steps'][number]): void => {
    const info = currentActivity();
    if (info === null) return;
    const key = `${info.workflowExecution?.runId} ${info.activityId} ${info.attempt}`;
    const execution = executions.get(key) ?? { activity: info.activityType, steps: [] };
    executions.set(key, execution);
    execution.steps.push(step);
  };
  return {
    observer: {
      database: (database) => recording(database, (wrote) => note({ wrote })),
      reached: (point) => note({ reached: point }),
    },
    executions: () => [...executions.values()],
  };
}

/** `null`: the worker itself, which looks for stray commands and the like. */
function currentActivity() {
  try {
    return Context.current().info;
  } catch {
    return null;
  }
}

/** A statement of its own, as far as its words tell; a transaction by what Postgres counted of it. */
function recording(database: Database, wrote: (tables: readonly string[]) => void): Database {
  const begin = async (work: (open: Transaction) => Promise<unknown>): Promise<unknown> => {
    let tables: readonly string[] = [];
    const result = await database.begin(async (open) => {
      const before = await changesIn(open);
      const value = await work(open);
      const after = await changesIn(open);
      tables = [...after].flatMap(([table, changes]) => (changes > (before.get(table) ?? 0) ? [table] : []));
      return value;
    });
    if (tables.length > 0) wrote(tables);
    return result;
  };
  return new Proxy(database, {
    apply(target, self: unknown, values: unknown[]) {
      const table = tableWritten(values[0]);
      if (table !== null) wrote([table]);
      return Reflect.apply(target, self, values) as unknown;
    },
    get: (target, name) => (name === 'begin' ? begin : (Reflect.get(target, name) as unknown)),
  });
}

/** Rows changed so far by table; the counters may also hold what transactions before it changed. */
async function changesIn(open: Transaction): Promise<ReadonlyMap<string, number>> {
  const rows = await open<{ name: string; changes: number }[]>`
    select relname as name, (n_tup_ins + n_tup_upd + n_tup_del)::int as changes from pg_stat_xact_user_tables
    where n_tup_ins + n_tup_upd + n_tup_del > 0`;
  return new Map(rows.map(({ name, changes }) => [name, changes]));
}

function tableWritten(template: unknown): string | null {
  if (!Array.isArray(template)) return null;
  const text = template.join('?');
  if (!/^\s*(?:with|insert|update|delete)\b/iu.test(text)) return null;
  return /(?:insert into|delete from|(?<!for |no key )update)\s+(\w+)/iu.exec(text)?.[1] ?? null;
}
