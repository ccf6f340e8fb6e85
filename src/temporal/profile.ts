import { createRequire } from 'node:module';
import type { ConnectionOptions } from '@temporalio/client';
import { TemporalError } from './errors.ts';

/** How a client or worker reaches Temporal. */
export interface TemporalAddress {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** Temporal Cloud or a server with API keys; turns TLS on. */
  readonly apiKey?: string;
  /** `true`, or an authority, a client certificate or another name of the server. Default: no TLS without a key. */
  readonly tls?: Exclude<ConnectionOptions['tls'], null | undefined>;
  /** Headers of each call. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** A server that encodes and decodes payloads by Temporal's HTTP protocol for codecs. */
  readonly codec?: { readonly endpoint: string; readonly authorization?: string };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Loaded when a variable asks for it: most commands need no more than an address. */
const load = createRequire(import.meta.url);

/**
 * What the `TEMPORAL_*` variables say, and `temporal.toml` where one of them names the file or a profile. Without that the file is that of
 * Temporal's own CLI alone, so that its default profile does not replace a local stack.
 * @throws TemporalError `temporal_profile_invalid`
 */
export function readTemporalProfile(environment: Environment): Partial<TemporalAddress> {
  const variables = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  if (!Object.keys(variables).some((name) => name.startsWith('TEMPORAL_'))) return {};
  if (variables['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'] !== undefined)
    throw invalid(
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is not supported',
      'name the authority of its certificate with TEMPORAL_TLS_SERVER_CA_CERT_PATH and its name with TEMPORAL_TLS_SERVER_NAME',
    );
  try {
    const { fromTomlProfile, toClientOptions }: typeof import('@temporalio/envconfig') = load('@temporalio/envconfig');
    const toml: typeof import('@temporalio/envconfig/lib/envconfig-toml.js') = load(
      '@temporalio/envconfig/lib/envconfig-toml.js',
    );
    const profile = toml.tomlLoadClientConfigProfile({
      overrideEnvVars: variables,
      disableFile: !('TEMPORAL_PROFILE' in variables || 'TEMPORAL_CONFIG_FILE' in variables),
      // Other profiles may have keys that only Temporal's other tools know.
      configFileStrict: false,
    });
    const { connectionOptions, namespace } = toClientOptions(fromTomlProfile(profile));
    const { endpoint, auth: authorization } = profile.codec ?? {};
    return Object.fromEntries(
      Object.entries({
        address: connectionOptions.address,
        namespace,
        apiKey: connectionOptions.apiKey,
        tls: connectionOptions.tls,
        metadata: profile.grpc_meta,
        codec: endpoint === undefined ? undefined : { endpoint, ...(authorization !== undefined && { authorization }) },
      }).filter(([, value]) => value !== undefined),
    );
  } catch (error) {
    throw invalid(
      error instanceof Error ? error.message : String(error),
      'correct TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE, the profile or the TEMPORAL_TLS_* variables',
    );
  }
}

function invalid(what: string, advice: string): TemporalError {
  return new TemporalError('temporal_profile_invalid', `the profile of Temporal cannot be used: ${what}`, advice);
}

/** The address, with the key, certificates and headers that the environment names. @throws TemporalError `temporal_profile_invalid` */
export function temporalAt(
  { temporalAddress, temporalNamespace }: { readonly temporalAddress: string; readonly temporalNamespace: string },
  environment: Environment,
): TemporalAddress {
  return { ...readTemporalProfile(environment), address: temporalAddress, namespace: temporalNamespace };
}

/** What a connection of either kind needs. */
export function connectionOptions({ address, apiKey, tls, metadata }: TemporalAddress) {
  return {
    address,
    ...(apiKey !== undefined && { apiKey }),
    ...(tls !== undefined && { tls }),
    ...(metadata !== undefined && { metadata: { ...metadata } }),
  };
}
