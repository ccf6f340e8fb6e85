import { createRequire } from 'node:module';
import type { ConnectionOptions } from '@temporalio/client';
import { TemporalError } from './errors.ts';

export interface TemporalAddress {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** For Temporal Cloud or a server with API keys; turns TLS on. */
  readonly apiKey?: string;
  /** `true`, or an authority, a client certificate or another name of the server. Default: no TLS without a key. */
  readonly tls?: Exclude<ConnectionOptions['tls'], null | undefined>;
  /** Headers of each call. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** A server that speaks Temporal's HTTP protocol for codecs. */
  readonly codec?: { readonly endpoint: string; readonly authorization?: string };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Loaded on demand, because most commands need only an address. */
const load = createRequire(import.meta.url);

/**
 * Reads the `TEMPORAL_*` variables, and `temporal.toml` if a variable names the file or a profile. Otherwise the default profile of
 * Temporal's CLI would replace the local stack.
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
      // Other profiles may have keys that only other tools of Temporal know.
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

/**
 * The address with key, certificates and headers of the environment.
 * @throws TemporalError `temporal_profile_invalid`
 */
export function temporalAt(
  { temporalAddress, temporalNamespace }: { readonly temporalAddress: string; readonly temporalNamespace: string },
  environment: Environment,
): TemporalAddress {
  return { ...readTemporalProfile(environment), address: temporalAddress, namespace: temporalNamespace };
}

/** Options that client and worker connections share. */
export function connectionOptions({ address, apiKey, tls, metadata }: TemporalAddress) {
  return {
    address,
    ...(apiKey !== undefined && { apiKey }),
    ...(tls !== undefined && { tls }),
    ...(metadata !== undefined && { metadata: { ...metadata } }),
  };
}
