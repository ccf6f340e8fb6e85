/** The API that a provider speaks. */
export type ProtocolName = 'anthropic' | 'chat' | 'responses';

/** A server that models are asked at, as configured. */
export interface ProviderDefinition {
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly baseUrl: string;
  /** Read from the environment at start; never logged or stored. `null`: the server wants none. */
  readonly apiKey: string | null;
  /** Longest silence of the server within one call, in milliseconds. Default: 60,000; 300,000 for `responses`. */
  readonly idleTimeoutMilliseconds?: number;
  /** Longest duration of one call, in milliseconds. Default: 1,800,000. */
  readonly totalTimeoutMilliseconds?: number;
}
