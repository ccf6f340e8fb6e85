import type { ProviderKey } from './catalogue/provider-key.ts';

/** The API that a provider speaks. */
export type ProtocolName = 'anthropic' | 'chat' | 'responses';

/** A cloud that serves a vendor's models behind its own addresses and credentials. */
export type ProviderHosting =
  | { readonly cloud: 'azure'; readonly apiVersion: string }
  | { readonly cloud: 'bedrock'; readonly region: string }
  | { readonly cloud: 'vertex'; readonly region: string; readonly project: string };

/** A server that models are asked at, as configured. */
export interface ProviderDefinition {
  /** As in `provider/model`. */
  readonly name: string;
  /** The API that it speaks. */
  readonly protocol: ProtocolName;
  /** Empty for a cloud whose SDK finds it by the region. */
  readonly baseUrl: string;
  /** Absent: the vendor itself, or any compatible server. */
  readonly hosting?: ProviderHosting;
  /** Read from the environment at start; never logged or stored. `null`: the server wants none. */
  readonly apiKey: string | null;
  /** Present when the key is read in use, from a file or a command; `apiKey` is `null` then. */
  readonly key?: ProviderKey;
  /** Longest silence of the server within one call, in milliseconds. Default: 60,000; 300,000 for `responses`. */
  readonly idleTimeoutMilliseconds?: number;
  /** Longest duration of one call, in milliseconds. Default: 1,800,000. */
  readonly totalTimeoutMilliseconds?: number;
  /** What Holdfast asks of it at once, over all workers. Absent: as much as there is. */
  readonly limits?: { readonly concurrentCalls?: number; readonly tokensPerMinute?: number };
}
