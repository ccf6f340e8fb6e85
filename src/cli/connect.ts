import type { ConnectOptions } from '../client/connect.ts';
import type { Holdfast } from '../client/holdfast.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Connections } from '../local/stack-file.ts';
import { temporalAt } from '../temporal/profile.ts';
import { printRemark } from './output.ts';
import type { ConnectionFlags } from './holdfast-command.ts';

/** What a command works with. */
export interface Surroundings {
  readonly connections: Connections;
  /** `null`: the command needs nothing of it, or something in it is wrong and the command goes on without it. */
  readonly configuration: Configuration | null;
}

export interface CommandNeeds {
  /** `false`: Temporal may be unknown or away, because only Postgres is read. Default: `true`. */
  readonly temporal?: boolean;
  /** `true`: agents or models of `holdfast.yaml` are needed, so that it must be without fault. Default: `false`. */
  readonly agents?: boolean;
  /** `true`: a search may be by meaning too, as `holdfast.yaml` says. Default: `false`. */
  readonly search?: boolean;
}

/** The environment with the servers that flags name, which win. */
export function environmentWith(flags: ConnectionFlags): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...(flags.databaseUrl !== undefined && { DATABASE_URL: flags.databaseUrl, DATABASE_LISTEN_URL: undefined }),
    ...(flags.temporalAddress !== undefined && { TEMPORAL_ADDRESS: flags.temporalAddress }),
    ...(flags.temporalNamespace !== undefined && { TEMPORAL_NAMESPACE: flags.temporalNamespace }),
  };
}

/**
 * Addresses from flags, else the environment, else `holdfast.yaml`, else the local stack, both looked for here and above.
 * @throws StackError `stack_not_started` when none of them names a server
 */
export async function findConnections(flags: ConnectionFlags, needs: CommandNeeds = {}): Promise<Connections> {
  const { findServers } = await import('../local/find-servers.ts');
  const { problem, ...connections } = findServers({
    environment: environmentWith(flags),
    needsTemporal: needs.temporal ?? true,
  });
  if (problem !== null) warnOf(problem);
  return connections;
}

/** The database alone, for a command that needs no Temporal. @throws StackError, ConfigurationError */
export async function findDatabaseUrl(flags: Pick<ConnectionFlags, 'databaseUrl'>): Promise<string> {
  return (await findConnections(flags, { temporal: false })).databaseUrl;
}

async function findSurroundings(flags: ConnectionFlags, needs: CommandNeeds): Promise<Surroundings> {
  // Reading the whole file takes longer than most commands.
  if (needs.agents !== true && needs.search !== true)
    return { connections: await findConnections(flags, needs), configuration: null };
  const [{ loadConfiguration }, { ConfigurationError }, { findServers }] = await Promise.all([
    import('../config/load-configuration.ts'),
    import('../config/errors.ts'),
    import('../local/find-servers.ts'),
  ]);
  const environment = environmentWith(flags);
  const connections = findServers({ environment, needsTemporal: needs.temporal ?? true });
  try {
    const configuration = loadConfiguration({ directory: process.cwd(), environment, stack: connections });
    return { connections, configuration };
  } catch (error) {
    if (!(error instanceof ConfigurationError) || needs.agents === true) throw error;
    warnOf(error);
    return { connections, configuration: null };
  }
}

/** For a command that needs nothing of the file. */
function warnOf(problem: Error): void {
  printRemark(`warning: this command goes on without holdfast.yaml. ${problem.message}`);
}

type Work<Result> = (client: Holdfast, surroundings: Surroundings) => Promise<Result>;

/** Opens a client for the time of `work`; closing it waits for doorbells under way. */
export async function withClient<Result>(
  flags: ConnectionFlags,
  needs: CommandNeeds,
  work: Work<Result>,
): Promise<Result> {
  const surroundings = await findSurroundings(flags, needs);
  // Loaded here: it brings Temporal's client, and `holdfast --help` should not wait for it.
  const { connect } = await import('../client/connect.ts');
  const client = await connect(await connectOptions(flags, surroundings));
  try {
    return await work(client, surroundings);
  } finally {
    await client.close();
  }
}

/** How a client reaches what a command found. */
export async function connectOptions(
  flags: ConnectionFlags,
  { connections, configuration }: Surroundings,
): Promise<ConnectOptions> {
  const { databaseUrl, databaseListenUrl, temporalAddress, temporalNamespace } = connections;
  return {
    databaseUrl,
    ...(databaseListenUrl !== null && { listenUrl: databaseListenUrl }),
    ...(flags.tenant !== undefined && { tenant: flags.tenant }),
    ...(await embedding(configuration)),
    temporal: temporalAt({ temporalAddress, temporalNamespace }, process.env),
    onDoorbellFailure: (_conversationId, error) =>
      printRemark(
        error instanceof Error && 'code' in error && error.code === 'namespace_differs'
          ? `warning: ${error.message}`
          : `warning: Temporal at ${temporalAddress} has not answered yet. What you sent is stored; a worker's upkeep finds it within a minute.`,
      ),
  };
}

/** The same for commands that need Postgres alone: Temporal may be unknown or away. */
export async function withReader<Result>(flags: ConnectionFlags, work: Work<Result>): Promise<Result> {
  return withClient(flags, { temporal: false }, work);
}

/** Loaded only where it is configured: it brings an SDK. */
async function embedding(configuration: Configuration | null) {
  if (configuration?.embeddings == null) return {};
  const embedder = (await import('../config/embeddings.ts')).embedderOf(configuration);
  if (embedder === null) return {};
  return {
    embedder,
    onEmbeddingFailure: (error: unknown) =>
      printRemark(
        `warning: searched by words alone: ${error instanceof Error ? error.message : 'no embedding of the query'}`,
      ),
  };
}
