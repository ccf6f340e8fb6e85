/** Key of what stands in for a payload that a codec could not encode or decode. */
export const CODEC_FAILURE = 'holdfastCodecFailure';

/** Why it could not; `null`: the value is another one. */
export function codecFailureIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !(CODEC_FAILURE in value)) return null;
  return String(value[CODEC_FAILURE]);
}
