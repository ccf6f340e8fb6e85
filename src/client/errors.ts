import { StoreError } from '../store/errors.ts';

/** Stable codes of what the client refuses. */
export type ClientErrorCode =
  | 'conversation_not_found'
  | 'entry_not_found'
  | 'branch_not_found'
  /** A turn is open: stop it or wait for its end. */
  | 'conversation_busy'
  | 'conversation_exists'
  | 'conversation_file_invalid'
  | 'model_call_not_found'
  | 'message_id_reused'
  /** Nothing waits for a person there, or for another kind of decision. */
  | 'decision_not_found'
  /** Several calls wait: name one. */
  | 'decision_ambiguous'
  /** Decided before, expired, or the turn has ended. */
  | 'decision_stale'
  | 'unknown_agent'
  | 'unknown_model'
  | 'unknown_preset'
  | 'invalid_argument'
  /** No turn, one that runs, or one that completed its task. */
  | 'nothing_to_resume'
  /** The limit that ended the turn must be raised to go on. */
  | 'limit_not_raised'
  | 'timeout'
  | 'database_unreachable'
  /** Postgres answered and refused the login: user, password or name of the database. */
  | 'database_refused'
  | 'database_schema';

/** Thrown by every method of `HoldfastClient`. The message says what happened, with the offending value, and what to do. */
export class HoldfastClientError extends Error {
  override readonly name = 'HoldfastClientError';
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Turns what the store or the driver threw into the client's error; an error that is neither is a bug and passes through. */
export function clientError(error: unknown): unknown {
  if (error instanceof StoreError) return fromStore(error);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && REFUSED.test(error.code)) {
    return new HoldfastClientError(
      'database_refused',
      `Postgres refuses the login (${error.code}): check user, password and name of the database in its address`,
      { cause: error },
    );
  }
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && UNREACHABLE.test(error.code)) {
    return new HoldfastClientError(
      'database_unreachable',
      `Postgres does not answer (${error.code}): start it with 'npx holdfast dev' or set DATABASE_URL`,
      { cause: error },
    );
  }
  return error;
}

/** Node's and postgres.js's codes for no connection, and the SQLSTATE classes 08, 53 and 57P. */
const UNREACHABLE = /^(?:E[A-Z]+|CONNECT\w*|CONNECTION_\w+|08\w{3}|53\w{3}|57P\w{2})$/u;
/** SQLSTATE class 28, and a database that does not exist. */
const REFUSED = /^(?:28\w{3}|3D000)$/u;

function fromStore(error: StoreError): HoldfastClientError {
  switch (error.code) {
    case 'message_id_reused':
    case 'decision_not_found':
    case 'decision_ambiguous':
    case 'decision_stale':
    case 'conversation_not_found':
    case 'entry_not_found':
    case 'branch_not_found':
    case 'conversation_busy':
    case 'conversation_exists':
    case 'conversation_file_invalid':
    case 'model_call_not_found':
      return new HoldfastClientError(error.code, error.message, { cause: error });
    case 'database_behind':
    case 'database_newer':
    case 'migration_changed':
      return new HoldfastClientError('database_schema', error.message, { cause: error });
    default:
      return new HoldfastClientError('invalid_argument', error.message, { cause: error });
  }
}
