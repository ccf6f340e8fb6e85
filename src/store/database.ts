import postgres from 'postgres';
import { teachArrays } from './array-types.ts';
import { closeResultGaps } from './result-gaps.ts';
import { databaseSockets } from './database-sockets.ts';

/** A pool of connections, as every function of the store takes it first. */
export type Database = postgres.Sql;

/** Inside `transaction`: the same queries, on one connection. */
export type Transaction = postgres.TransactionSql;

/** What runs a query: the pool or an open transaction. */
export type Queries = Database | Transaction;

/** A piece of SQL with its parameters, to be put into a query. */
export type Fragment = postgres.Fragment;

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`. */
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
 * Server-side time limits of each connection. A worker that is frozen inside a transaction
 * (SIGSTOP, a paused machine) would hold the lock on its conversation and keep its successor out;
 * the server ends such a transaction after 5 s, below the 8 s that a takeover may last.
 */
const CONNECTION_SETTINGS = { idle_in_transaction_session_timeout: 5_000, lock_timeout: 15_000 } as const;

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

/** Opens a pool lazily: a wrong address shows at the first query. Close it with `end()`. */
export function connectDatabase(options: DatabaseOptions): Database {
  // Missing in the types of postgres.js 3.4.
  const sockets = { socket: databaseSockets(options.silenceLimitMilliseconds) };
  const sql = postgres(options.url, {
    ...sockets,
    fetch_types: false,
    max: options.maximumConnections ?? 10,
    // A notice ("already exists, skipping") is not an event worth a line on stderr.
    onnotice: () => undefined,
    backoff: pauseBeforeReconnect,
    connection: { application_name: options.applicationName ?? 'holdfast', ...CONNECTION_SETTINGS },
  });
  teachArrays(sql);
  closeResultGaps(sql);
  return sql;
}
