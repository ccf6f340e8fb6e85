/** What can go wrong with the local stack; each code stands for one thing to do about it. */
export type StackErrorCode =
  | 'HOLDFAST_PLATFORM_UNSUPPORTED'
  | 'HOLDFAST_POSTGRES_MISSING'
  | 'HOLDFAST_POSTGRES_FAILED'
  | 'HOLDFAST_POSTGRES_VERSION'
  | 'HOLDFAST_NO_UNPRIVILEGED_USER'
  | 'HOLDFAST_TEMPORAL_MISSING'
  | 'HOLDFAST_SERVICE_FAILED'
  | 'HOLDFAST_PORT_TAKEN'
  | 'HOLDFAST_NO_PERMISSION'
  | 'HOLDFAST_DISK_FULL'
  | 'HOLDFAST_ALREADY_RUNNING'
  | 'HOLDFAST_NOT_STARTED'
  | 'HOLDFAST_STACK_FILE_INVALID';

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
