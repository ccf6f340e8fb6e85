import type { Database, Transaction } from '../../store/database/database.ts';

/**
 * Reports each commit that changed rows. What `committed` throws is thrown to the code that wrote.
 * @param committed gets what the commit changed, such as `insert entries`
 */
export function observeWrites(database: Database, committed: (writes: readonly string[]) => void): Database {
  const begin = async (...given: readonly [Work] | readonly [options: string, Work]): Promise<unknown> => {
    const writes = new Set<string>();
    const [options, work] = given.length === 1 ? ['', given[0]] : given;
    const result = await database.begin(options, (open) =>
      work(observeStatements(open, (changed) => changed.forEach((write) => writes.add(write)))),
    );
    if (writes.size > 0) committed([...writes]);
    return result;
  };
  return new Proxy(observeStatements(database, committed), {
    get: (target, name) => (name === 'begin' ? begin : (Reflect.get(target, name) as unknown)),
  });
}

type Work = (open: Transaction) => Promise<unknown>;

function observeStatements<Sql extends Database | Transaction>(
  sql: Sql,
  changed: (writes: readonly string[]) => void,
): Sql {
  return new Proxy(sql, {
    apply(target, self: unknown, values: unknown[]) {
      const query: unknown = Reflect.apply(target, self, values);
      const writes = writesIn(values[0]);
      return writes.length > 0 && query instanceof Promise ? observed(query, () => changed(writes)) : query;
    },
  });
}

interface Rows {
  /** Rows that the statement changed or returned. */
  readonly count: number;
}

/** The driver sends a query when `then` is called: never, if it is a fragment of another one. */
function observed(query: Promise<Rows>, changed: () => void): Promise<Rows> {
  const send = query.then.bind(query);
  const done = (rows: Rows): Rows => {
    if (rows.count > 0) changed();
    return rows;
  };
  // oxlint-disable-next-line unicorn/no-thenable -- the driver's query is one
  return Object.assign(query, { then: (...handlers: Parameters<typeof send>) => send(done).then(...handlers) });
}

const WRITE = /\b(insert into|delete from|(?<!\b(?:for|key|do) )update)\s+(\w+)/giu;

function writesIn(template: unknown): readonly string[] {
  if (!Array.isArray(template) || !('raw' in template)) return [];
  const text = template.join('?');
  if (!/^\s*(?:with|insert|update|delete)\b/iu.test(text)) return [];
  return [...text.matchAll(WRITE)].map(([, verb = '', table = '']) => `${verb.split(' ')[0] ?? ''} ${table}`);
}
