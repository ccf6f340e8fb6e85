/**
 * What a turn waits for that waits for a provider: it refused calls for their rate, or was not there and named a time; or as many
 * calls or tokens are under way as the configuration allows.
 */
export type ProviderWaitReason = 'rate_limit' | 'outage' | 'call_limit' | 'token_limit' | 'call_or_token_limit';

export type WaitReason = ProviderWaitReason | 'no_worker';

/** A wait for a provider. */
export interface ProviderWait {
  readonly reason: ProviderWaitReason;
  /** How long it lasts, as the timeline tells it. */
  readonly delayMilliseconds: number;
  /** When Temporal calls the activity again: no later than the end of the wait, and sooner where that may come early. */
  readonly retryMilliseconds: number;
}

/** What a turn waits for that no worker of its queue has so far. */
export interface WorkerNeed {
  readonly needs: 'agent' | 'preset' | 'provider' | 'tool';
  readonly name: string;
}
