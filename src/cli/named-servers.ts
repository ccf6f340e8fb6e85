import type { Configuration } from '../config/configuration.ts';
import { loadConfiguration } from '../config/load-configuration.ts';

/**
 * The environment with the servers that `holdfast.yaml` names added, where the environment itself names none: a stack or a
 * check must not overlook them.
 *
 * @throws ConfigurationError naming what is wrong in `holdfast.yaml`
 */
export function environmentWithNamedServers(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return withNamedServers(environment, loadConfiguration({ directory: process.cwd(), environment }));
}

/** The same for a configuration that was read before. */
export function withNamedServers(
  environment: NodeJS.ProcessEnv,
  { databaseUrl, temporal }: Pick<Configuration, 'databaseUrl' | 'temporal'>,
): NodeJS.ProcessEnv {
  return {
    ...environment,
    ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
    ...(temporal.address !== null && { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace }),
  };
}
