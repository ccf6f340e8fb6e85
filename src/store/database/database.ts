import postgres from 'postgres';
import { teachArrays } from './array-types.ts';
import { readConnectionOptions } from './connection-options.ts';

/** A pool of connections, as every function of the store takes it first. */
export type Database = postgres.Sql;

/** Inside `transaction`: the same queries, on one connection. */
export type Transaction = postgres.TransactionSql;

/** What runs a query: the pool or an open transaction. */
export type Queries = Database | Transaction;

/** A piece of SQL with its parameters, to be put into a query. */
export type Fragment = postgres.Fragment;

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`, with libpq's parameters; `PG*` variables give what it leaves out. */
  readonly url: string;
  /** Shown in `pg_stat_activity`. Default: `holdfast`. */
  readonly applicationName?: string;
  /** Size of the pool. Default: 10. */
  readonly maximumConnections?: number;
  /**
   * Milliseconds of silence after which a connection that was asked something is given up. Longer than any statement takes
   * to send its first row. Default: no limit but the kernel's.
   */
  readonly silenceLimitMilliseconds?: number;
}

/**
 * Finds names in the schema of Holdfast and in those of the extensions that it calls. Nowhere else: a function that somebody created in
 * `public` may fit a call better than Postgres' own, and would run with the rights of the caller.
 * @param span until the end of the transaction, or of the connection
 */
export function setSearchPath(span: 'transaction' | 'connection'): string {
  return `
    set ${span === 'transaction' ? 'local' : 'session'} search_path = pg_catalog;
    select set_config('search_path', concat_ws(', ', 'holdfast', (
      select string_agg(distinct quote_ident(n.nspname), ', ') from pg_extension e join pg_namespace n on n.oid = e.extnamespace
      where e.extname in ('pg_trgm', 'vector') and n.nspname <> 'holdfast')), ${span === 'transaction'})`;
}

/**
 * Time limits that the server keeps for each connection. A worker that is frozen inside a transaction (SIGSTOP, a paused machine) holds
 * the lock on its conversation; the server ends the transaction after 5 s, below the 8 s that a takeover may last.
 */
const CONNECTION_SETTINGS = `
  ${setSearchPath('connection')};
  set idle_in_transaction_session_timeout = 5000;
  set lock_timeout = 15000`;

/** Seconds, at most: a second after the server is back, every connection may be. */
const LONGEST_PAUSE = 1;

/**
 * Seconds before a connection that was lost is made again. The default of postgres.js triples with each loss up to 20 s, and
 * the connections of a pool count together: after a server's restart a worker would wait for 20 s longer than the server.
 * @param losses since a connection was made.
 */
function pauseBeforeReconnect(losses: number): number {
  return Math.min(0.01 * 2 ** losses, LONGEST_PAUSE) * (0.5 + Math.random() / 2);
}

const shownWarnings = new Set<string>();

/** As Node shows a warning: once, on stderr. */
function warnOnce(message: string): void {
  if (shownWarnings.has(message)) return;
  shownWarnings.add(message);
  process.emitWarning(message, { type: 'HoldfastWarning', code: 'database_url' });
}

/**
 * Opens a pool lazily: a wrong address shows at the first query. Close it with `end()`.
 * @throws StoreError `database_url_invalid`
 */
export function connectDatabase(options: DatabaseOptions): Database {
  const { warnings, pooled, applicationName, serverOptions, ...address } = readConnectionOptions(options.url);
  warnings.forEach(warnOnce);
  const sql = postgres({
    ...address,
    fetch_types: false,
    prepare: !pooled,
    max: options.maximumConnections ?? 10,
    // A notice ("already exists, skipping") is not an event worth a line on stderr.
    onnotice: () => undefined,
    backoff: pauseBeforeReconnect,
    ...(options.silenceLimitMilliseconds !== undefined && {
      silence_timeout: options.silenceLimitMilliseconds / 1_000,
    }),
    ...(!pooled && { settings: CONNECTION_SETTINGS }),
    connection: {
      application_name: applicationName ?? options.applicationName ?? 'holdfast',
      ...(serverOptions !== null && { options: serverOptions }),
    },
  });
  teachArrays(sql);
  return sql;
}
