import type { ProviderPause } from '../store/providers/provider-pauses.ts';

/** The methods of `HoldfastClient` that tell how providers are asked. */
export interface ProviderMethods {
  /** Providers that answered with a rate limit and are not called before a time, by any worker. */
  listProviderPauses(): Promise<ProviderPause[]>;
  /** Lets workers call a provider again before its time is over. @returns whether it was paused */
  endProviderPause(options: { readonly provider: string }): Promise<boolean>;
}
