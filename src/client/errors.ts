import { z } from 'zod';
import { StoreError, outageOf } from '../store/database/errors.ts';
import type { Outage } from '../store/database/errors.ts';

/** Stable codes of what the client refuses. */
export const CLIENT_ERROR_CODES = [
  'conversation_not_found',
  'entry_not_found',
  'branch_not_found',
  /** A turn is open: stop it or wait for its end. */
  'conversation_busy',
  'conversation_exists',
  'conversation_file_invalid',
  'model_call_not_found',
  'memory_not_found',
  'message_id_reused',
  /** Nothing waits for a person there, or for another kind of decision. */
  'decision_not_found',
  /** Several calls wait: name one. */
  'decision_ambiguous',
  /** Decided before, expired, or the turn has ended. */
  'decision_stale',
  /** The same decision id decided on another call, or otherwise. */
  'decision_id_reused',
  'invalid_argument',
  /** No turn, one that runs, one that completed its task, or another one than when it was sent. */
  'nothing_to_resume',
  /** The limit that ended the turn must be raised to go on. */
  'limit_not_raised',
  /** One was sent before that no worker has taken yet: its raise counts, a second one would be added to it. */
  'resume_waiting',
  /** 1,000 messages wait for the turns of the conversation. */
  'too_many_waiting',
  'timeout',
  /** `close` was called. */
  'client_closed',
  'database_unreachable',
  /** Postgres answers, and takes no writes: it is a standby, or set so. */
  'database_read_only',
  /** Postgres answers, and cannot write to its disk. */
  'database_disk_full',
  /** All connections that Postgres allows are in use. */
  'database_connections_used_up',
  /** Postgres answers, and could not do it now: others were in the way, or it is short of memory. */
  'database_busy',
  /** Postgres answered and refused: user, password, name of the database, or TLS. */
  'database_refused',
  /** The address leads to a pooler in transaction mode, and does not say so or names no direct connection for notifications. */
  'database_pooled',
  'database_schema',
  /** The turns of the database run in another namespace of Temporal than this client's. */
  'namespace_differs',
  /** `connect({ url })`: nothing answers there. */
  'server_unreachable',
  /** The server refused for a reason of its own, such as its key: the message begins with its code. */
  'server_refused',
] as const;

export type ClientErrorCode = (typeof CLIENT_ERROR_CODES)[number];

/** Thrown by every method of `Holdfast`. The message says what happened, with the offending value, and what to do. */
export class HoldfastClientError extends Error {
  override readonly name = 'HoldfastClientError';
  readonly code: ClientErrorCode;
  /** The message without the advice, for who words that himself. */
  readonly what: string;

  /** @param options.advice what to do; ends the message. Default: `what` says it */
  constructor(code: ClientErrorCode, what: string, options: ErrorOptions & { readonly advice?: string } = {}) {
    const { advice, ...rest } = options;
    super(advice === undefined ? what : `${what}: ${advice}`, rest);
    this.code = code;
    this.what = what;
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
      advice: 'check user, password and name of the database in its address',
    });
  }
  if (TLS.test(code)) {
    return new HoldfastClientError('database_refused', `TLS with Postgres failed (${code}: ${error.message})`, {
      cause: error,
      advice: 'check sslmode, sslrootcert, sslcert and sslkey in its address',
    });
  }
  const outage = outageOf(error) ?? (NO_SOCKET.test(code) && !isFileError(error) ? 'unreachable' : null);
  return outage === null ? error : fromOutage(error, outage, code);
}

const OUTAGES: Readonly<
  Record<Outage, { readonly code: ClientErrorCode; readonly what: string; readonly advice: string }>
> = {
  unreachable: {
    code: 'database_unreachable',
    what: 'does not answer',
    advice: "start it with 'npx holdfast dev' or correct its address",
  },
  restarting: { code: 'database_busy', what: 'is starting or shutting down', advice: 'try again' },
  pooler: {
    code: 'database_refused',
    what: 'is behind a pooler that refuses the connection',
    advice: "read the pooler's log",
  },
  read_only: {
    code: 'database_read_only',
    what: 'takes no writes: it is a standby or set read-only',
    advice: 'connect to the primary, or end its read-only mode (default_transaction_read_only)',
  },
  disk: {
    code: 'database_disk_full',
    what: 'cannot write to its disk',
    advice: 'make room there; its log tells when the disk itself fails',
  },
  connections_used_up: {
    code: 'database_connections_used_up',
    what: 'has no connection left',
    advice: 'raise its max_connections, or end workers and clients that are not needed',
  },
  busy: { code: 'database_busy', what: 'could not do it now', advice: 'try again' },
};

function fromOutage(error: Error, outage: Outage, sqlState: string): HoldfastClientError {
  const { code, what, advice } = OUTAGES[outage];
  const address = addressIn(error);
  const server = address === null ? 'Postgres' : `Postgres at ${address}`;
  const said = outage === 'pooler' ? `: ${error.message}` : '';
  return new HoldfastClientError(code, `${server} ${what} (${sqlState})${said}`, { cause: error, advice });
}

export function clientClosed(options: ErrorOptions = {}): HoldfastClientError {
  return new HoldfastClientError('client_closed', 'the client was closed', {
    ...options,
    advice: 'connect again',
  });
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
  switch (error.code) {
    case 'message_id_reused':
    case 'decision_not_found':
    case 'decision_ambiguous':
    case 'decision_stale':
    case 'decision_id_reused':
    case 'conversation_not_found':
    case 'entry_not_found':
    case 'branch_not_found':
    case 'conversation_busy':
    case 'conversation_exists':
    case 'conversation_file_invalid':
    case 'model_call_not_found':
    case 'nothing_to_resume':
    case 'limit_not_raised':
    case 'resume_waiting':
    case 'too_many_waiting':
    case 'namespace_differs':
    case 'database_pooled':
      return new HoldfastClientError(error.code, error.message, { cause: error });
    case 'database_behind':
    case 'database_differs':
    case 'database_unsupported':
      return new HoldfastClientError('database_schema', error.message, { cause: error });
    default:
      return new HoldfastClientError('invalid_argument', error.message, { cause: error });
  }
}
