import { definedOf } from '../context/policy/defined-of.ts';
import type { ConfigurationError } from '../config/errors.ts';
import type { Environment } from '../config/environment.ts';
import { readNamedServers } from '../config/named-servers.ts';
import type { NamedServers } from '../config/named-servers.ts';
import { readTemporalProfile } from '../temporal/profile.ts';
import { readStack, resolveConnections, stateDirectory, UNUSED_ADDRESS } from './stack-file.ts';
import type { Connections } from './stack-file.ts';

export interface FindServersOptions {
  /** Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Where `holdfast.yaml` and `.holdfast/` are looked for, then in the folders above. Default: the working directory. */
  readonly directory?: string;
  /** `false`: Temporal's address may be unknown, because nobody connects to it. Default: `true`. */
  readonly needsTemporal?: boolean;
}

export interface FoundServers extends Connections {
  /** Where the local Postgres keeps its data, which for root's may lie outside of the state folder; `null` without one. */
  readonly dataDirectory: string | null;
  /** `holdfast.yaml` cannot be read, and may name other servers than these. */
  readonly problem: ConfigurationError | null;
}

/**
 * The environment with the servers that a profile of Temporal or `holdfast.yaml` names, where it names none itself.
 * @throws ConfigurationError, TemporalError `temporal_profile_invalid`
 */
export function namedServers(environment: Environment, directory: string): NamedServers {
  const { address, namespace } = readTemporalProfile(environment);
  return readNamedServers(
    { ...environment, ...definedOf({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }) },
    directory,
  );
}

/**
 * Postgres and Temporal: those that the environment names, else `holdfast.yaml`, else the local stack of `holdfast dev`.
 * @throws StackError `stack_not_started` when none of them names a server, `stack_file_invalid`
 * @throws ConfigurationError for a wrong address in the environment or in `holdfast.yaml`; TemporalError `temporal_profile_invalid`
 */
export function findServers({
  environment = process.env,
  directory = process.cwd(),
  needsTemporal = true,
}: FindServersOptions = {}): FoundServers {
  const named = namedServers(environment, directory);
  const stack = readStack(stateDirectory(environment, directory));
  const instead = needsTemporal || stack?.temporal != null ? {} : { TEMPORAL_ADDRESS: UNUSED_ADDRESS };
  try {
    const connections = resolveConnections({ ...instead, ...named.environment }, stack);
    return { ...connections, dataDirectory: stack?.postgres?.dataDirectory ?? null, problem: named.problem };
  } catch (error) {
    // The file may name what is missing.
    throw named.problem ?? error;
  }
}
