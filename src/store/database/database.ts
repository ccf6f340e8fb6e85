import postgres from 'postgres';
import { teachArrays } from './array-types.ts';
import { readConnectionOptions } from './connection-options.ts';
import { StoreError } from './errors.ts';

/** A pool of connections, as every function of the store takes it first. */
export type Database = postgres.Sql;

export type Transaction = postgres.TransactionSql;

export type Queries = Database | Transaction;

export type Fragment = postgres.Fragment;

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`, with libpq's parameters; `PG*` variables give what it leaves out. */
  readonly url: string;
  /** The same database without a pooler in between, for notifications. Default: `url`. */
  readonly listenUrl?: string | null;
  /** Shown in `pg_stat_activity`. Default: `holdfast`. */
  readonly applicationName?: string;
  /** Size of the pool. Default: 10. */
  readonly maximumConnections?: number;
  /**
   * Milliseconds of silence after which a connection that was asked something is given up. Longer than any statement takes
   * to send its first row, but one that is `.patient()`. Default: no limit but the kernel's.
   */
  readonly silenceLimitMilliseconds?: number;
  /** Leads to a pooler in transaction mode, whatever the address says. Default: what it says. */
  readonly pooled?: true;
  /** A connection is never replaced while it lives, so that what its session holds stays. Default: each lives for half an hour to an hour. */
  readonly keepsSession?: true;
  /** Set for each connection, over what the address sets and over Holdfast's own time limits. Default: none. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Finds names in the schema of Holdfast and in those of the extensions that it calls. Nowhere else: a function that somebody created in
 * `public` may fit a call better than Postgres' own, and would run with the rights of the caller.
 */
const SEARCH_PATH = `pg_catalog.concat_ws(', ', 'holdfast', ${schemaOf('pg_trgm')}, ${schemaOf('vector')})`;

/** Once for each extension: a join over both costs each new connection 1.5 ms of the server's processor. */
function schemaOf(extension: string): string {
  return `(select extnamespace::pg_catalog.regnamespace::pg_catalog.text from pg_catalog.pg_extension where extname = '${extension}')`;
}

/**
 * Time limits that the server keeps for each connection. A worker that is frozen inside a transaction (SIGSTOP, a paused machine) holds
 * the lock on its conversation; the server ends the transaction after 5 s.
 */
const TIME_LIMITS = { idle_in_transaction_session_timeout: '5000', lock_timeout: '8000' };

/** Of two words, by pg_trgm; below it they are strangers. Six letters with one left out have 4 of 9 trigrams in common. */
export const SMALLEST_SIMILARITY = 0.44;

/** Of workers and clients: whoever waits for a server that has fallen silent is told within 10 s. Longer than `lock_timeout`. */
export const SILENCE_LIMIT_MILLISECONDS = 9_500;

/** One statement. @param span until the end of the transaction, or of the connection */
export function setSearchPath(span: Span): string {
  return `select ${setting('search_path', SEARCH_PATH, span)}`;
}

type Span = 'transaction' | 'connection';

function setting(name: string, value: string, span: Span): string {
  return `pg_catalog.set_config(${literal(name)}, ${value}, ${span === 'transaction'})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function setAll(settings: Readonly<Record<string, string>>, span: Span): string {
  const values = Object.entries(settings).map(([name, value]) => setting(name, literal(value), span));
  return `select ${[...values, setting('search_path', SEARCH_PATH, span)].join(', ')}`;
}

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

/** Seconds. Behind a pooler in session mode an idle connection would keep one of the server's from everybody else. */
const IDLE_SECONDS = 30;

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
  const { listenUrl, ...own } = options;
  const sql = openPool(own);
  if (listenUrl == null) {
    if (isPooled(sql)) sql.listen = async () => Promise.reject(listenUrlMissing());
    return sql;
  }
  const direct = openPool({ ...own, url: listenUrl, maximumConnections: 1 });
  const end = sql.end.bind(sql);
  return Object.assign(sql, {
    listen: direct.listen.bind(direct),
    end: async (how?: { readonly timeout?: number }) => void (await Promise.all([end(how), direct.end(how)])),
  });
}

export function isPooled({ options }: Database): boolean {
  return options.transaction_settings !== undefined;
}

function listenUrlMissing(): StoreError {
  return new StoreError(
    'database_pooled',
    'a pooler in transaction mode passes no notifications on: name a direct connection to the same database in DATABASE_LISTEN_URL, `database.listenUrl` or `listenUrl`',
  );
}

function openPool(options: Omit<DatabaseOptions, 'listenUrl'>): Database {
  const {
    warnings,
    pooled: isDeclared,
    applicationName,
    settings: named,
    startupOptions,
    ...address
  } = readConnectionOptions(options.url);
  // What is less alike would be compared all the same.
  const similarity = { 'pg_trgm.similarity_threshold': String(SMALLEST_SIMILARITY) };
  const settings = { ...named, ...TIME_LIMITS, ...similarity, ...options.settings };
  warnings.forEach(warnOnce);
  const pooled = options.pooled ?? isDeclared;
  const sql = postgres({
    ...address,
    fetch_types: false,
    // Columns have the names of properties: `head_entry_id` is read as `headEntryId`.
    transform: { column: { from: postgres.toCamel } },
    prepare: !pooled,
    max: options.maximumConnections ?? 10,
    // A notice ("already exists, skipping") is not an event worth a line on stderr.
    onnotice: () => undefined,
    backoff: pauseBeforeReconnect,
    ...(options.keepsSession === true ? { max_lifetime: null } : { idle_timeout: IDLE_SECONDS }),
    ...(options.silenceLimitMilliseconds !== undefined && {
      silence_timeout: options.silenceLimitMilliseconds / 1_000,
    }),
    ...(pooled
      ? { transaction_settings: setAll(settings, 'transaction') }
      : { settings: setAll(settings, 'connection') }),
    connection: {
      application_name: applicationName ?? options.applicationName ?? 'holdfast',
      ...(startupOptions !== null && { options: startupOptions }),
    },
  });
  teachArrays(sql);
  return sql;
}
