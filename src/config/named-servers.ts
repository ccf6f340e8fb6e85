import { z } from 'zod';
import { isRecord } from '../models/protocols/json.ts';
import { describeOptionProblems } from './check/describe-option-problem.ts';
import { definedOf } from '../context/policy/defined-of.ts';
import { problemsIn, readConfigurationSource, requireNone } from './configuration-source.ts';
import { environmentProblems, given, type Environment } from './environment.ts';
import { ConfigurationError, invalidConfiguration } from './errors.ts';
import { connectionOptions } from './options/connection-options.ts';

export interface NamedServers {
  /** `DATABASE_URL`, `DATABASE_LISTEN_URL`, `TEMPORAL_ADDRESS` and `TEMPORAL_NAMESPACE` as the environment or the file has them; the rest as it was. */
  readonly environment: Environment;
  /** The file cannot be read: it may name servers that are not known therefore. */
  readonly problem: ConfigurationError | null;
}

const SERVER_VARIABLES = new Set([
  'DATABASE_URL',
  'DATABASE_LISTEN_URL',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'HOLDFAST_SIMULATOR_URL',
]);

/**
 * The environment with the servers that `holdfast.yaml` names added, where the environment itself names none. What else is wrong in the
 * file does not matter here.
 * @throws ConfigurationError for a wrong address
 */
export function readNamedServers(environment: Environment, directory: string): NamedServers {
  requireNone(environmentProblems(environment).filter(({ option }) => SERVER_VARIABLES.has(option)));
  const named = readServerOptions(environment, directory);
  const address = given(environment, 'TEMPORAL_ADDRESS') ?? named.temporal?.address;
  const servers = definedOf({
    DATABASE_URL: given(environment, 'DATABASE_URL') ?? named.database?.url,
    DATABASE_LISTEN_URL:
      given(environment, 'DATABASE_LISTEN_URL') ??
      (given(environment, 'DATABASE_URL') === undefined ? named.database?.listenUrl : undefined),
    TEMPORAL_ADDRESS: address,
    // The local stack has one namespace: the file's is of the file's server.
    TEMPORAL_NAMESPACE: given(environment, 'TEMPORAL_NAMESPACE') ?? (address && named.temporal?.namespace),
  });
  const allNamed = servers.DATABASE_URL !== undefined && servers.TEMPORAL_ADDRESS !== undefined;
  return { environment: { ...environment, ...servers }, problem: allNamed ? null : named.problem };
}

const serverOptions = z.object(connectionOptions);

function readServerOptions(environment: Environment, directory: string) {
  try {
    const source = readConfigurationSource(environment, directory);
    if (source !== null && source.yaml.problems.length > 0)
      return { problem: invalidConfiguration(source.yaml.problems) };
    const written = source?.yaml.value;
    const { data, error } = serverOptions.safeParse(isRecord(written) ? written : {});
    requireNone(
      problemsIn(
        source,
        describeOptionProblems(error?.issues ?? [], { value: written, below: [], options: serverOptions }),
      ),
    );
    return { database: data?.database, temporal: data?.temporal, problem: null };
  } catch (error) {
    if (!(error instanceof ConfigurationError) || error.code !== 'configuration_unreadable') throw error;
    return { problem: error };
  }
}
