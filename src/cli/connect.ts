import type { HoldfastClient } from '../client/types.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Connections } from '../local/stack-file.ts';
import { printRemark } from './output.ts';
import type { ConnectionFlags } from './holdfast-command.ts';

/** Any address will do where nobody connects to it. */
export const UNUSED_ADDRESS = 'unused:0';

/** What a command works with. */
export interface Surroundings {
  readonly configuration: Configuration;
  readonly connections: Connections;
}

/**
 * Addresses from flags, else the environment, else `holdfast.yaml`, else `.holdfast/stack.json` here or above.
 * @param options.temporal `false`: Temporal may be unknown, because only Postgres is read. Default: `true`
 * @throws StackError `stack_not_started` when none of them names a server
 * @throws ConfigurationError naming what is wrong in `holdfast.yaml`
 */
export async function findSurroundings(
  flags: ConnectionFlags,
  { temporal = true }: { readonly temporal?: boolean } = {},
): Promise<Surroundings> {
  const environment = {
    ...process.env,
    ...(flags.databaseUrl !== undefined && { DATABASE_URL: flags.databaseUrl }),
    ...(flags.temporalAddress !== undefined && { TEMPORAL_ADDRESS: flags.temporalAddress }),
    ...(flags.temporalNamespace !== undefined && { TEMPORAL_NAMESPACE: flags.temporalNamespace }),
  };
  return resolveSurroundings(environment, { temporal });
}

/** The database alone, for a command that needs no Temporal. @throws StackError, ConfigurationError */
export async function findDatabaseUrl(flags: Pick<ConnectionFlags, 'databaseUrl'>): Promise<string> {
  const environment = {
    ...process.env,
    ...(flags.databaseUrl !== undefined && { DATABASE_URL: flags.databaseUrl }),
  };
  const { connections } = await resolveSurroundings(environment, { temporal: false });
  return connections.databaseUrl;
}

async function resolveSurroundings(
  environment: NodeJS.ProcessEnv,
  { temporal }: { readonly temporal: boolean },
): Promise<Surroundings> {
  const [{ loadConfiguration }, { readStack, resolveConnections }] = await Promise.all([
    import('../config/load-configuration.ts'),
    import('../local/stack-file.ts'),
  ]);
  const stack = readStack();
  const written = loadConfiguration({ directory: process.cwd(), environment });
  const connections = resolveConnections(
    {
      ...(!temporal && (stack?.temporal ?? null) === null && { TEMPORAL_ADDRESS: UNUSED_ADDRESS }),
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

type Work<Result> = (client: HoldfastClient, surroundings: Surroundings) => Promise<Result>;

/** Opens a client for the time of `work`; closing it waits for doorbells under way. */
export async function withClient<Result>(flags: ConnectionFlags, work: Work<Result>): Promise<Result> {
  return inSurroundings(await findSurroundings(flags), work);
}

/** The same for commands that need Postgres alone: Temporal may be unknown or away. */
export async function withReader<Result>(flags: ConnectionFlags, work: Work<Result>): Promise<Result> {
  return inSurroundings(await findSurroundings(flags, { temporal: false }), work);
}

async function inSurroundings<Result>(surroundings: Surroundings, work: Work<Result>): Promise<Result> {
  const { databaseUrl, temporalAddress, temporalNamespace } = surroundings.connections;
  // Loaded here: it brings Temporal's client, and `holdfast --help` should not wait for it.
  const { createClient } = await import('../client/create-client.ts');
  const { configuration } = surroundings;
  // Loaded only where it is configured: it brings an SDK.
  const embedder =
    configuration.embeddings === null ? null : (await import('../config/embeddings.ts')).embedderOf(configuration);
  const client = await createClient({
    databaseUrl,
    ...(embedder !== null && { embedder }),
    onEmbeddingFailure: (error) =>
      printRemark(
        `warning: searched by words alone: ${error instanceof Error ? error.message : 'no embedding of the query'}`,
      ),
    temporal: {
      address: temporalAddress,
      namespace: temporalNamespace,
      ...(process.env['TEMPORAL_API_KEY'] !== undefined && { apiKey: process.env['TEMPORAL_API_KEY'] }),
    },
    ...(process.env['HOLDFAST_TASK_QUEUE'] !== undefined && { taskQueue: process.env['HOLDFAST_TASK_QUEUE'] }),
    onDoorbellFailure: () =>
      printRemark(
        `warning: Temporal at ${temporalAddress} has not answered yet. What you sent is stored; a worker's upkeep finds it within a minute.`,
      ),
  });
  try {
    return await work(client, surroundings);
  } finally {
    await client.close();
  }
}
