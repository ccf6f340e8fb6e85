/** What can go wrong with the local stack; each code stands for one thing to do about it. */
export type StackErrorCode =
  | 'platform_unsupported'
  | 'postgres_missing'
  | 'postgres_failed'
  | 'postgres_version'
  | 'no_unprivileged_user'
  | 'temporal_missing'
  | 'service_failed'
  | 'port_taken'
  | 'no_permission'
  /** A folder of Holdfast's own outside the project belongs to somebody else. */
  | 'directory_untrusted'
  /** A folder that cannot be made, or not be written. */
  | 'directory_unusable'
  | 'disk_full'
  | 'stack_already_running'
  | 'stack_not_started'
  | 'stack_file_invalid';

/** A failure of the local stack: what happened with the offending value, and the next step. */
export class StackError extends Error {
  override readonly name = 'StackError';
  readonly code: StackErrorCode;
  /** What the user can do, one sentence. */
  readonly fix: string;

  constructor(code: StackErrorCode, what: string, fix: string, options?: ErrorOptions) {
    super(`${what} ${fix}`, options);
    this.code = code;
    this.fix = fix;
  }
}

/** The code of a system error, such as `EADDRINUSE`; null for an error without one. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
