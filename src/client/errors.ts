/** Stable codes of what the client refuses. */
export type ClientErrorCode =
  | 'conversation_not_found'
  | 'entry_not_found'
  | 'message_id_reused'
  | 'unknown_agent'
  | 'unknown_model'
  | 'unknown_preset'
  | 'invalid_argument'
  | 'timeout'
  | 'database_unreachable'
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
