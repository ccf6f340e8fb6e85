import type { HoldfastClient } from '../client/types.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Connections } from '../local/stack-file.ts';
import type { ConnectionFlags } from './holdfast-command.ts';

/** What a command works with. */
export interface Surroundings {
  readonly configuration: Configuration;
  readonly connections: Connections;
}

/**
 * Addresses from flags, else the environment, else `holdfast.yaml`, else `.holdfast/stack.json` here or above.
 * @throws StackError `HOLDFAST_NOT_STARTED` when none of them names a server
 * @throws ConfigurationError naming what is wrong in `holdfast.yaml`
 */
export async function findSurroundings(flags: ConnectionFlags): Promise<Surroundings> {
  return resolveSurroundings({
    ...process.env,
    ...(flags.databaseUrl !== undefined && { DATABASE_URL: flags.databaseUrl }),
    ...(flags.temporalAddress !== undefined && { TEMPORAL_ADDRESS: flags.temporalAddress }),
    ...(flags.temporalNamespace !== undefined && { TEMPORAL_NAMESPACE: flags.temporalNamespace }),
  });
}

/** The database alone, for a command that needs no Temporal. @throws StackError, ConfigurationError */
export async function findDatabaseUrl(flags: Pick<ConnectionFlags, 'databaseUrl'>): Promise<string> {
  const { connections } = await resolveSurroundings({
    // Any address will do: nobody connects to it.
    TEMPORAL_ADDRESS: 'unused:0',
    ...process.env,
    ...(flags.databaseUrl !== undefined && { DATABASE_URL: flags.databaseUrl }),
  });
  return connections.databaseUrl;
}

async function resolveSurroundings(environment: NodeJS.ProcessEnv): Promise<Surroundings> {
  const [{ loadConfiguration }, { readStack, resolveConnections }] = await Promise.all([
    import('../config/load-configuration.ts'),
    import('../local/stack-file.ts'),
  ]);
  const stack = readStack();
  const written = loadConfiguration({ directory: process.cwd(), environment });
  const connections = resolveConnections(
    {
      ...environment,
      ...(written.databaseUrl !== null && { DATABASE_URL: written.databaseUrl }),
      ...(written.temporal.address !== null && {
        TEMPORAL_ADDRESS: written.temporal.address,
        TEMPORAL_NAMESPACE: written.temporal.namespace,
      }),
    },
    stack,
  );
  const configuration = loadConfiguration({ directory: process.cwd(), environment, stack: connections });
  return { configuration, connections };
}

/** Opens a client for the time of `work`; closing it waits for doorbells under way. */
export async function withClient<Result>(
  flags: ConnectionFlags,
  work: (client: HoldfastClient, surroundings: Surroundings) => Promise<Result>,
): Promise<Result> {
  const surroundings = await findSurroundings(flags);
  const { databaseUrl, temporalAddress, temporalNamespace } = surroundings.connections;
  // Loaded here: it brings Temporal's client, and `holdfast --help` should not wait for it.
  const { createClient } = await import('../client/create-client.ts');
  const client = await createClient({
    databaseUrl,
    temporal: {
      address: temporalAddress,
      namespace: temporalNamespace,
      ...(process.env['TEMPORAL_API_KEY'] !== undefined && { apiKey: process.env['TEMPORAL_API_KEY'] }),
    },
    ...(process.env['HOLDFAST_TASK_QUEUE'] !== undefined && { taskQueue: process.env['HOLDFAST_TASK_QUEUE'] }),
    onDoorbellFailure: () =>
      process.stderr.write(
        `warning: Temporal at ${temporalAddress} did not answer. What you sent is stored and is taken when Temporal and a worker run again.\n`,
      ),
  });
  try {
    return await work(client, surroundings);
  } finally {
    await client.close();
  }
}
