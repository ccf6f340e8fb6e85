export type SessionFileErrorCode =
  /** The file does not exist, is a folder, or may not be read. */
  | 'session_unreadable'
  /** The file holds nothing, or nothing that anybody said. */
  | 'session_empty'
  /** No session of a known format. */
  | 'session_format_unknown';

/** A file of recorded sessions that cannot be read. The message names it; `next` says what to do. */
export class SessionFileError extends Error {
  override readonly name = 'SessionFileError';
  readonly code: SessionFileErrorCode;
  readonly next: string;

  constructor(code: SessionFileErrorCode, message: string, next: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
