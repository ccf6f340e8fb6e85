import type { ProtocolName, ProviderDefinition } from '../models/provider.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { BUILT_IN_PROVIDERS } from './built-in-providers.ts';
import type { BuiltInProvider } from './built-in-providers.ts';
import { given, type Environment } from './environment.ts';
import { hostingOf } from './hosting.ts';
import { keyOf, type KeySurroundings } from './options/key-options.ts';
import type { ProviderOptions } from './options/options.ts';

/** A provider that cannot be used here, and why. */
export interface UnavailableProvider {
  readonly name: string;
  readonly reason: 'key_missing' | 'address_missing';
  /** Environment variable that would make it usable. */
  readonly variable: string;
}

export interface ResolvedProviders {
  readonly available: readonly ProviderDefinition[];
  readonly unavailable: readonly UnavailableProvider[];
}

/** The protocol of a provider, if it is built in or configured. */
export function protocolOf(name: string, options: Readonly<Record<string, ProviderOptions>>): ProtocolName | undefined {
  return options[name]?.protocol ?? BUILT_IN_PROVIDERS[name]?.protocol;
}

export const BUILT_IN_PROVIDER_NAMES: readonly string[] = Object.keys(BUILT_IN_PROVIDERS);

/** Providers of the file put over the built-in ones; addresses and keys from the environment win. */
export function resolveProviders(
  options: Readonly<Record<string, ProviderOptions>>,
  environment: Environment,
  simulatorUrl: string | null,
  surroundings: KeySurroundings,
): ResolvedProviders {
  const names = [...new Set([...BUILT_IN_PROVIDER_NAMES, ...Object.keys(options)])];
  const resolved = names.map((name) => {
    const own = options[name] ?? {};
    const provider = resolveProvider(name, own, environment, simulatorUrl);
    return 'reason' in provider ? provider : Object.assign(provider, keyOf(name, own, surroundings));
  });
  return {
    available: resolved.filter((one) => 'protocol' in one),
    unavailable: resolved.filter((one) => 'reason' in one),
  };
}

function resolveProvider(
  name: string,
  options: ProviderOptions,
  environment: Environment,
  simulatorUrl: string | null,
): ProviderDefinition | UnavailableProvider {
  const builtIn = BUILT_IN_PROVIDERS[name];
  const ownAddress =
    (builtIn === undefined ? undefined : addressFromEnvironment(builtIn, environment, simulatorUrl)) ?? options.baseUrl;
  const byRegion = options.hosting === 'bedrock' || options.hosting === 'vertex' ? '' : null;
  const baseUrl = ownAddress ?? builtIn?.defaultAddress ?? byRegion;
  const protocol = options.protocol ?? builtIn?.protocol;
  if (baseUrl === null || protocol === undefined) {
    return { name, reason: 'address_missing', variable: builtIn?.addressVariable ?? `providers.${name}.baseUrl` };
  }
  const isReadInUse = options.apiKeyFile !== undefined || options.apiKeyCommand !== undefined;
  const keyVariable = isReadInUse ? null : (options.apiKeyVariable ?? builtIn?.keyVariable ?? null);
  const apiKey = keyVariable === null ? null : (given(environment, keyVariable) ?? null);
  // A vendor's own address always wants a key; a server of the user's own wants one if a variable was named for it.
  const wantsKey = options.apiKeyVariable !== undefined || (ownAddress === undefined && builtIn?.keyVariable !== null);
  if (apiKey === null && keyVariable !== null && wantsKey)
    return { name, reason: 'key_missing', variable: keyVariable };
  return {
    name,
    protocol,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    ...hostingOf(options),
    ...timeoutsOf(options),
    ...(options.limits !== undefined && { limits: definedOf(options.limits) }),
  };
}

function timeoutsOf({ idleTimeoutSeconds, totalTimeoutSeconds }: ProviderOptions): Partial<ProviderDefinition> {
  return definedOf({
    idleTimeoutMilliseconds: idleTimeoutSeconds === undefined ? undefined : idleTimeoutSeconds * 1_000,
    totalTimeoutMilliseconds: totalTimeoutSeconds === undefined ? undefined : totalTimeoutSeconds * 1_000,
  });
}

function addressFromEnvironment(
  builtIn: BuiltInProvider,
  environment: Environment,
  simulatorUrl: string | null,
): string | undefined {
  const address = given(environment, builtIn.addressVariable);
  if (builtIn.addressVariable !== 'HOLDFAST_SIMULATOR_URL') return address;
  const simulator = address ?? simulatorUrl ?? undefined;
  return simulator === undefined ? undefined : `${simulator.replace(/\/+$/, '')}${builtIn.path}`;
}

/** Every key that is set for a provider, to be masked wherever text is stored or shown. */
export function providerKeys(
  options: Readonly<Record<string, ProviderOptions>>,
  environment: Environment,
): readonly string[] {
  const variables = [
    ...Object.values(BUILT_IN_PROVIDERS).map((provider) => provider.keyVariable),
    ...Object.values(options).map((provider) => provider.apiKeyVariable ?? null),
  ];
  const keys = variables.flatMap((variable) => (variable === null ? [] : (given(environment, variable) ?? [])));
  return [...new Set(keys)];
}
