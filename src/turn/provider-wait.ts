/**
 * What a turn waits for that waits for a provider: it refused calls for their rate, or was not there and named a time; or as many
 * calls or tokens are under way as the configuration allows.
 */
export type WaitReason = 'rate_limit' | 'outage' | 'call_limit' | 'token_limit' | 'call_or_token_limit';

/** A wait for a provider, as the timeline tells it. */
export interface ProviderWait {
  readonly delayMilliseconds: number;
  readonly reason: WaitReason;
}

/** A wait in the worker that is longer is told; what is over sooner is not worth a write. */
export const LONG_WAIT_MILLISECONDS = 2_000;
