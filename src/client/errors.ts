import { z } from 'zod';
import { StoreError, outageOf } from '../store/database/errors.ts';
import type { Outage } from '../store/database/errors.ts';

const DEV = 'Start everything with `npx holdfast dev`, or correct the address (DATABASE_URL, --database-url).';
const OTHER_NAMESPACE =
  'Let TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE name that one. After a move to another Temporal or namespace, `npx holdfast db adopt --namespace <name>` changes it.';

/** Stable codes of what the client refuses, and what to do about each. */
export const CLIENT_NEXT = {
  conversation_not_found: '`npx holdfast list` shows the conversations.',
  entry_not_found: '`npx holdfast show <conversation>` and `npx holdfast recall` print ids of entries and summaries.',
  branch_not_found: '`npx holdfast branch list <conversation>` lists them.',
  /** A turn is open. */
  conversation_busy: '`npx holdfast stop <conversation>`, or wait until the turn has ended.',
  conversation_exists:
    '`npx holdfast show <conversation>` shows it; DATABASE_URL names another database to import the file into.',
  conversation_file_invalid: 'Use another copy of it, or export the conversation again with `npx holdfast export`.',
  model_call_not_found: '`npx holdfast view <conversation> --calls` lists the calls.',
  memory_not_found: '`npx holdfast memory list` shows them with their ids.',
  message_id_reused: 'Send with another message id.',
  /** Nothing waits for a person there, or for another kind of decision. */
  decision_not_found:
    '`npx holdfast show <conversation>` shows what waits, `npx holdfast approvals` what stands for agents.',
  /** Several calls wait. */
  decision_ambiguous:
    '`npx holdfast show <conversation>` shows each; name one: `npx holdfast approve <conversation> <call>`.',
  /** Decided before, expired, or the turn has ended. */
  decision_stale: '`npx holdfast show <conversation>` shows how the call ended.',
  /** The same decision id decided on another call, or otherwise. */
  decision_id_reused: 'Send with another decision id.',
  invalid_argument: 'Correct what is named there; `npx holdfast <command> --help` shows what a command takes.',
  /** No turn, one that runs, one that completed its task, or another one than when it was sent. */
  nothing_to_resume: 'Send a message instead: `npx holdfast send <conversation> "…"`.',
  /** The limit that ended the turn must be raised to go on. */
  limit_not_raised: 'Raise it by that much or more; `npx holdfast resume --help` lists all.',
  /** One was sent before that no worker has taken yet: its raise counts, a second one would be added to it. */
  resume_waiting:
    'Start a worker, and the turn goes on with the raise that waits: `npx holdfast watch <conversation>` shows it.',
  /** 1,000 messages wait for the turns of the conversation. */
  too_many_waiting:
    'Start a worker, or wait until turns have taken some: `npx holdfast watch <conversation>` shows them.',
  timeout: 'The turn goes on; `npx holdfast watch last` shows it.',
  /** `close` was called. */
  client_closed: 'Connect again.',
  database_unreachable: DEV,
  /** Postgres answers, and takes no writes: it is a standby, or set so. */
  database_read_only:
    'Connect to the primary (DATABASE_URL, --database-url), or end its read-only mode (default_transaction_read_only); then try again.',
  /** Postgres answers, and cannot write to its disk. */
  database_disk_full: 'Make room on the disk of Postgres, whose log tells more; then try again.',
  /** All connections that Postgres allows are in use. */
  database_connections_used_up:
    'Raise max_connections of Postgres, or end workers and clients that are not needed; then try again.',
  /** Postgres answers, and could not do it now: others were in the way, or it is short of memory. */
  database_busy: 'Try again.',
  /** Postgres answered and refused: user, password, name of the database, or TLS. */
  database_refused:
    'Correct the address (DATABASE_URL, --database-url), or create the user and the database that it names.',
  /** The address leads to a pooler in transaction mode, and does not say so or names no direct connection for notifications. */
  database_pooled: 'docs/connections.md says how to connect through a pooler.',
  database_schema:
    'If the database is older, run `npx holdfast db migrate`; if it is newer, install the version of Holdfast that the workers have.',
  /** The turns of the database run in another namespace of Temporal than this client's. */
  namespace_differs: OTHER_NAMESPACE,
  /** `connect({ url })`: nothing answers there. */
  server_unreachable: 'Start `npx holdfast server`, or correct its address.',
  /** The server refused for a reason of its own, such as its key: the message begins with its code. */
  server_refused: 'Do what the message says.',
} as const satisfies Record<string, string>;

export type ClientErrorCode = keyof typeof CLIENT_NEXT;

export function isClientErrorCode(code: string): code is ClientErrorCode {
  return Object.hasOwn(CLIENT_NEXT, code);
}

interface ClientErrorOptions extends ErrorOptions {
  readonly next?: string;
  readonly serverCode?: string;
  readonly retryAfterSeconds?: number | null;
}

/** Thrown by every method of `Holdfast`. The message says what happened, with the offending value, and what to do. */
export class HoldfastClientError extends Error {
  override readonly name = 'HoldfastClientError';
  readonly code: ClientErrorCode;
  /** What happened. */
  readonly what: string;
  /** What to do. */
  readonly next: string;
  /** Of `server_refused`: the server's own code, such as `too_many_requests`; `null`: it gave none. */
  readonly serverCode: string | null;
  /** Of a server that cannot serve now: when to ask again, 0 where it does not say. `null`: asking again does not help. */
  readonly retryAfterSeconds: number | null;

  /** @param options.next default: what to do about any error of the code */
  constructor(code: ClientErrorCode, what: string, options: ClientErrorOptions = {}) {
    const { next = CLIENT_NEXT[code], serverCode = null, retryAfterSeconds = null, ...rest } = options;
    super(`${what}. ${next}`, rest);
    this.code = code;
    this.what = what;
    this.next = next;
    this.serverCode = serverCode;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Turns what the store or the driver threw into the client's error; an error that is neither is a bug and passes through. */
export function clientError(error: unknown): unknown {
  if (error instanceof HoldfastClientError) return error;
  if (error instanceof StoreError) return fromStore(error);
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error;
  const { code } = error;
  if (CLOSED.test(code)) return clientClosed({ cause: error });
  if (REFUSED.test(code)) {
    return new HoldfastClientError('database_refused', `Postgres refuses the login (${code}: ${error.message})`, {
      cause: error,
    });
  }
  if (TLS.test(code)) {
    return new HoldfastClientError('database_refused', `TLS with Postgres failed (${code}: ${error.message})`, {
      cause: error,
      next: 'Check sslmode, sslrootcert, sslcert and sslkey in its address.',
    });
  }
  const outage = outageOf(error) ?? (NO_SOCKET.test(code) && !isFileError(error) ? 'unreachable' : null);
  return outage === null ? error : fromOutage(error, outage, code);
}

const OUTAGES: Readonly<Record<Outage, readonly [ClientErrorCode, what: string]>> = {
  unreachable: ['database_unreachable', 'does not answer'],
  restarting: ['database_busy', 'is starting or shutting down'],
  pooler: ['database_refused', 'is behind a pooler that refuses the connection'],
  read_only: ['database_read_only', 'takes no writes: it is a standby or set read-only'],
  disk: ['database_disk_full', 'cannot write to its disk'],
  connections_used_up: ['database_connections_used_up', 'has no connection left'],
  busy: ['database_busy', 'could not do it now'],
};

function fromOutage(error: Error, outage: Outage, sqlState: string): HoldfastClientError {
  const [code, what] = OUTAGES[outage];
  const address = addressIn(error);
  const server = address === null ? 'Postgres' : `Postgres at ${address}`;
  if (outage === 'pooler') {
    const next = "Read the pooler's log.";
    return new HoldfastClientError(code, `${server} ${what} (${sqlState}): ${error.message}`, { cause: error, next });
  }
  return new HoldfastClientError(code, `${server} ${what} (${sqlState})`, { cause: error });
}

export function clientClosed(options: ErrorOptions = {}): HoldfastClientError {
  return new HoldfastClientError('client_closed', 'the client was closed', options);
}

/** `host:port` as Node and postgres.js note it on errors of connections; a name that is not known comes without its port. */
function addressIn(error: unknown): string | null {
  // All addresses of a name were tried.
  if (error instanceof AggregateError) return addressIn(error.errors[0]);
  const noted = connectionError.safeParse(error);
  if (!noted.success) return null;
  const { address, hostname, port } = noted.data;
  const host = address ?? hostname;
  if (host === undefined) return null;
  return port === undefined ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const connectionError = z.object({
  address: z.string().optional(),
  hostname: z.string().optional(),
  port: z.number().optional(),
});

/** postgres.js's codes for a pool that was ended. */
const CLOSED = /^CONNECTION_(?:ENDED|DESTROYED)$/u;

/** Node's codes where no socket came about, beside those that pass by themselves: a path or a port that is none, a right that is missing. */
const NO_SOCKET = /^(?:E(?!RR_)[A-Z_]+|CONNECT\w*)$/u;
/** Of a full disk or a file that is missing, Postgres knows nothing. */
function isFileError(error: Error): boolean {
  return 'syscall' in error && error.syscall !== 'connect' && error.syscall !== 'getaddrinfo';
}

/** SQLSTATE class 28, and a database that does not exist. */
const REFUSED = /^(?:28\w{3}|3D000)$/u;

/** The server has no TLS, or its certificate or ours was refused: codes of OpenSSL by way of Node. */
const TLS =
  /^(?:SSL_NOT_SUPPORTED|ERR_(?:TLS|SSL|OSSL)_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH)$/u;

function fromStore(error: StoreError): HoldfastClientError {
  const { code, message } = error;
  if (isClientErrorCode(code)) return new HoldfastClientError(code, message, { cause: error });
  const isOfSchema = code === 'database_behind' || code === 'database_differs' || code === 'database_unsupported';
  return new HoldfastClientError(isOfSchema ? 'database_schema' : 'invalid_argument', message, { cause: error });
}
