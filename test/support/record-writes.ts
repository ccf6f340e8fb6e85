import type { Database, Transaction } from '../../src/store/database/database.ts';

/**
 * A database as a worker has it that is killed behind a write that it commits: from then on nothing reaches Postgres.
 * @param which write it is; the first unless given
 */
export function killedBehindWrite(
  database: Database,
  which = 1,
): {
  readonly database: Database;
  /** Tables that the write went to; none: there was no such write. */
  readonly lastWrite: () => readonly string[];
} {
  let last: readonly string[] = [];
  let writes = 0;
  const observed = recording(database, (tables) => {
    writes += 1;
    if (writes === which) last = tables;
  });
  const requireLife = (): void => {
    if (last.length > 0) throw new Error('the worker is dead');
  };
  return {
    database: new Proxy(observed, {
      apply(target, self: unknown, values: unknown[]) {
        requireLife();
        return Reflect.apply(target, self, values) as unknown;
      },
      get(target, name) {
        if (name === 'begin') requireLife();
        return Reflect.get(target, name) as unknown;
      },
    }),
    lastWrite: () => last,
  };
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
