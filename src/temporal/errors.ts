export type TemporalErrorCode =
  /** A profile, its file or a `TEMPORAL_*` variable cannot be used. */
  | 'temporal_profile_invalid'
  /** The namespace does not exist, and this process may not create it. */
  | 'namespace_missing'
  /** The namespace lacks search attributes that every turn sets, and this process may not create them. */
  | 'search_attributes_missing'
  /** The payload codec fails, or does not decode what it encoded. */
  | 'payload_codec_failed';

/** A Temporal that answers cannot be used by a worker or client. */
export class TemporalError extends Error {
  override readonly name = 'TemporalError';
  readonly code: TemporalErrorCode;
  readonly advice: string;

  constructor(code: TemporalErrorCode, message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.advice = advice;
  }
}
