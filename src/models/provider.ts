/** The API that a provider speaks. */
export type ProtocolName = 'anthropic' | 'chat' | 'responses';

/** A server that models are asked at, as configured. */
export interface ProviderDefinition {
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly baseUrl: string;
  /** Read from the environment at start; never logged or stored. `null`: the server wants none. */
  readonly apiKey: string | null;
}
