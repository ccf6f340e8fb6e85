export type LabErrorCode =
  /** The file does not exist, is a folder, or may not be read. */
  | 'session_unreadable'
  /** The file holds nothing, or nothing that anybody said. */
  | 'session_empty'
  /** The file is no text. */
  | 'session_binary'
  /** Text, but no session of a known format. */
  | 'session_format_unknown'
  /** An option that cannot be: window, preset, price list. */
  | 'lab_option_invalid';

/** A file or an option that the lab cannot work with. The message names it; `next` says what to do. */
export class LabError extends Error {
  override readonly name = 'LabError';
  readonly code: LabErrorCode;
  readonly next: string;

  constructor(code: LabErrorCode, message: string, next: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
