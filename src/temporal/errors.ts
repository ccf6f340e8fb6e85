export type TemporalErrorCode =
  /** A profile, a file of it or a `TEMPORAL_*` variable cannot be used. */
  | 'temporal_profile_invalid'
  /** The namespace does not exist, and this process may not create it. */
  | 'namespace_missing'
  /** The namespace lacks search attributes that every turn sets, and this process may not create them. */
  | 'search_attributes_missing'
  /** The payload codec does not give back what it was given, or fails. */
  | 'payload_codec_failed';

/** What keeps a worker or client from using a Temporal that answers. */
export class TemporalError extends Error {
  override readonly name = 'TemporalError';
  readonly code: TemporalErrorCode;
  /** What to do. */
  readonly advice: string;

  constructor(code: TemporalErrorCode, message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.advice = advice;
  }
}
