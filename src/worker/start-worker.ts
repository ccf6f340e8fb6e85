import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivities } from '../activities/create-activities.ts';
import type { Activities } from '../activities/create-activities.ts';
import { createModelPermits } from '../activities/runtime/model-permits.ts';
import { traceTexts } from '../activities/runtime/show-calls.ts';
import { orderedCrashPoints } from '../activities/runtime/crash-points.ts';
import type { CrashPoints } from '../activities/runtime/crash-points.ts';
import { FenceWatch } from '../activities/runtime/fence-watch.ts';
import { createOutlastingWork } from '../activities/runtime/outlasting-work.ts';
import type { OutlastingWork } from '../activities/runtime/outlasting-work.ts';
import type { Reducers } from '../context/plan/reducers/built-in.ts';
import type { BeforeCompaction } from '../context/policy/compaction-hook.ts';
import { requireFallbacks } from '../config/check/check-fallbacks.ts';
import { approvalRuleProblems } from '../config/check/check-approvals.ts';
import { missingToolProblems } from '../config/check/check-tools.ts';
import { toolCountProblems } from '../config/check/check-tool-count.ts';
import { requireNone } from '../config/configuration-source.ts';
import { serverOf } from '../config/configuration.ts';
import { embedderOf } from '../config/embeddings.ts';
import type { Configuration } from '../config/configuration.ts';
import { createModelClients } from '../models/model-clients.ts';
import { parseModelName } from '../models/catalogue/model-name.ts';
import type { Database } from '../store/database/database.ts';
import { observeDatabase } from '../store/database/observe-database.ts';
import { createListeners } from '../store/database/listen.ts';
import type { Listeners } from '../store/database/listen.ts';
import { listServedModels, readLearnedLimits } from '../store/providers/model-facts.ts';
import { codecsOf, connectClient, connectWorker } from '../temporal/connect.ts';
import type { TemporalAddress } from '../temporal/profile.ts';
import { isWorkflowOpen, newestRunOf } from '../temporal/newest-run.ts';
import { ringDoorbell } from '../temporal/ring-doorbell.ts';
import { loadWorkflowBundle } from '../temporal/workflow-bundle.ts';
import { createBuiltInTools } from '../tools/builtin/built-in-tools.ts';
import { createToolRegistry } from '../tools/runtime/registry.ts';
import type { ToolRegistry } from '../tools/runtime/registry.ts';
import { BUILT_IN_TOOL_NAMES } from '../tools/runtime/names.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import type { WorkerNeed } from '../turn/limits.ts';
import { createSnapshotSource } from './agent-snapshots.ts';
import { createTurnWorkers, runTogether, workSinks } from './create-turn-workers.ts';
import type { ServingOptions } from './create-turn-workers.ts';
import { requireReady } from './health.ts';
import { startMcpServers } from './mcp-servers.ts';
import { prepareNamespace, checkDatabase, openPools } from './preparation.ts';
import type { DatabaseAddress } from './preparation.ts';
import { startUpkeep } from './upkeep-timer.ts';
import type { UpkeepDependencies } from './upkeep.ts';
import { WorkerSession } from './worker-session.ts';

export interface WorkerSetup extends DatabaseAddress, ServingOptions {
  readonly temporal: TemporalAddress;
  /** For Temporal's payloads. Default: the codec server of `temporal`, else none. */
  readonly payloadCodecs?: readonly PayloadCodec[] | undefined;
  readonly configuration: Configuration;
  /** Your own tools, beside the built-in ones. */
  readonly tools: readonly ToolDefinition[];
  /** All reducers, built-in ones included. */
  readonly reducers: Reducers;
  /** Hooks in the order in which they run. */
  readonly beforeCompaction: readonly BeforeCompaction[];
  /** Source of the environment of commands. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Value of `HOLDFAST_CRASH_POINTS`. */
  readonly crashPoints: string | undefined;
  /** Value of `HOLDFAST_CRASH_ORDERS`. */
  readonly crashOrders?: string | undefined;
  /** `false`: upkeep runs only when it is called. Default: every ten seconds. */
  readonly hasTimedUpkeep?: boolean | undefined;
  /** Absent: none. */
  readonly observer?: ActivityObserver | undefined;
  readonly logger: Logger;
}

/** Makes the activities of a worker for tests: observed, or made again like those of a worker that replaces a dead one. */
export type ActivityObserver = (make: (points: CrashPoints) => Activities) => Activities;

export interface RunningWorker {
  readonly identity: string;
  /** Runs upkeep once, unless another worker of the queue is running it. */
  runUpkeep(): Promise<void>;
  /** Throws if Postgres or Temporal does not answer, or if the worker shuts down. */
  checkReady(): Promise<void>;
  /** Ends when `shutdown` has been called and everything is closed. */
  readonly ended: Promise<void>;
  /** Takes no more work, and lets running calls finish within the grace period. Another worker takes the rest. */
  shutdown(): void;
}

/**
 * Connects to Postgres and Temporal and serves turns.
 * @throws ConfigurationError for a fallback without key or address and for an MCP server that fails; StoreError `database_pooled`,
 * `database_behind`, `database_differs`, `namespace_differs`; TemporalError; errors of the connections.
 */
export async function startWorker(setup: WorkerSetup): Promise<RunningWorker> {
  const { logger, taskQueue } = setup;
  requireFallbacks(setup.configuration);
  // A restarted container has the same process id and host, but must not be taken for its dead predecessor.
  const identity = `${process.pid}@${hostname()}/${randomUUID().slice(0, 8)}`;
  const pools = await openPools(setup);
  const { database, liveDatabase, sessionDatabase } = pools;
  const closers: (() => Promise<unknown>)[] = [
    () => database.end({ timeout: 5 }),
    ...[liveDatabase, sessionDatabase].map((each) => () => each.end({ timeout: 1 })),
  ];
  const close = async (): Promise<void> => {
    for (const closer of closers.reverse()) await closer();
  };
  try {
    await checkDatabase(pools, logger);
    observeDatabase(database);
    const connection = await connectWorker(setup.temporal);
    closers.push(() => connection.close());
    const codecs = setup.payloadCodecs ?? codecsOf(setup.temporal);
    const client = await connectClient(setup.temporal, codecs);
    closers.push(() => client.connection.close());
    await prepareNamespace(setup.temporal.namespace, { database, connection, client, logger });
    const listeners = createListeners(database);
    closers.push(() => listeners.close());
    const outlastingWork = createOutlastingWork();
    const mcp = await startMcpServers(setup.configuration);
    closers.push(() => mcp.close());
    const { configuration } = mcp;
    const withTools = { ...setup, configuration, tools: [...setup.tools, ...mcp.tools] };
    const served = setup.deployment === undefined ? taskQueue : `${taskQueue} ${setup.deployment.buildId}`;
    const announced = { taskQueue: served, offers: offersOf(withTools) };
    const session = new WorkerSession({ ...pools, client, identity, announced, logger });
    closers.push(() => session.end());
    const workers = await createWorkers(withTools, {
      database,
      liveDatabase,
      connection,
      client,
      codecs,
      identity,
      outlastingWork,
      session,
      listeners,
    });
    const upkeep = startUpkeep(upkeepDependencies(setup, { database, client }), setup.hasTimedUpkeep);
    closers.push(() => upkeep.end());
    const graceOver = (): Promise<void> => outlastingWork.end();
    const running = runTogether(workers, { grace: setup.shutdownGraceMilliseconds, graceOver, close });
    logger.info({ identity, taskQueue }, 'worker started');
    const checkReady = async (): Promise<void> => requireReady(running.isShuttingDown(), { database, client });
    return { identity, runUpkeep: () => upkeep.look(), checkReady, ...running };
  } catch (error) {
    await close();
    throw error;
  }
}

function offersOf({ configuration, tools }: WorkerSetup): readonly WorkerNeed[] {
  const { agents, presets, providers } = configuration;
  const names: Readonly<Record<WorkerNeed['needs'], readonly string[]>> = {
    agent: agents.map(({ name }) => name),
    preset: Object.keys(presets),
    provider: providers.map(({ name }) => name),
    tool: [...BUILT_IN_TOOL_NAMES, ...tools.map(({ name }) => name)],
  };
  return (['agent', 'preset', 'provider', 'tool'] as const).flatMap((needs) =>
    names[needs].map((name) => ({ needs, name })),
  );
}

interface Connections {
  readonly database: Database;
  readonly liveDatabase: Database;
  readonly connection: NativeConnection;
  readonly client: Client;
  readonly codecs: readonly PayloadCodec[];
  readonly identity: string;
  readonly outlastingWork: OutlastingWork;
  readonly session: WorkerSession;
  readonly listeners: Listeners;
}

async function createWorkers(setup: WorkerSetup, connections: Connections) {
  const { connection, identity } = connections;
  const { configuration } = setup;
  if (configuration.tracesTexts) traceTexts();
  const tools = createToolRegistry([
    ...createBuiltInTools({
      environment: setup.environment,
      passedOn: configuration.commandVariables,
      secrets: configuration.secrets,
    }),
    ...setup.tools,
  ]);
  // Fails at the start, not at the first turn, if an agent names a tool that this worker lacks.
  requireNone([
    ...missingToolProblems(configuration, tools.names),
    ...toolCountProblems(configuration, (agent) => tools.schemasFor(agent).length),
    ...approvalRuleProblems(configuration, tools),
  ]);
  const make = (points: CrashPoints): Activities => makeActivities(setup, connections, tools, points);
  const activities = setup.observer?.(make) ?? make(orderedCrashPoints(setup.crashPoints, setup.crashOrders));
  return createTurnWorkers({
    ...setup,
    connection,
    codecs: connections.codecs,
    onCodecFailure: (reason) => setup.logger.error({ reason }, 'the payload codec fails: turns wait for it'),
    namespace: setup.temporal.namespace,
    workflowBundle: await loadWorkflowBundle(),
    activities,
    identity,
    sinks: workSinks(connections.database, setup.logger),
  });
}

function makeActivities(
  setup: WorkerSetup,
  { liveDatabase, client, identity, outlastingWork, session, ...connections }: Connections,
  tools: ToolRegistry,
  points: CrashPoints,
): Activities {
  const { configuration } = setup;
  const { secrets } = configuration;
  const database = points.database(connections.database);
  return createActivities({
    database,
    liveDatabase,
    tools,
    providers: configuration.providers.map(({ name }) => name),
    modelClient: createModelClients(configuration.providers),
    modelPermits: createModelPermits({ database, providers: configuration.providers }),
    serverOf: (provider) => serverOf(configuration, provider),
    snapshotFor: createSnapshotSource(configuration, tools, async (model, conversationId) => {
      const server = serverOf(configuration, parseModelName(model).provider);
      const [[listed = null], learned] = await Promise.all([
        listServedModels(database, { model, server }),
        readLearnedLimits(database, { model, server, conversationId }, configuration.forgetWindowsAfterDays),
      ]);
      return { server, listed, learned };
    }),
    embedder: embedderOf(configuration),
    reducers: setup.reducers,
    beforeCompaction: setup.beforeCompaction,
    secrets,
    protectedPaths: configuration.protectedPaths,
    readKeys: async () => {
      await Promise.allSettled(configuration.providers.map(async ({ key }) => key?.newest()));
    },
    logger: setup.logger,
    reachCrashPoint: points.reached,
    fenceWatch: new FenceWatch(database, setup.logger, connections.listeners),
    outlastingWork,
    workerIdentity: identity,
    worksOn: (conversationId) => session.worksOn(conversationId),
    isServed: (need) => session.isServed(need),
    newestRunOf: (workflowId) => newestRunOf(client, workflowId),
    isWorkflowOpen: (workflowId, runId) => isWorkflowOpen(client, workflowId, runId),
  });
}

function upkeepDependencies(
  { configuration, taskQueue, logger }: WorkerSetup,
  { database, client }: Pick<Connections, 'database' | 'client'>,
): UpkeepDependencies {
  return {
    database,
    taskQueue,
    embedder: embedderOf(configuration),
    retention: configuration.retention,
    timelineDays: configuration.timelineDays,
    secrets: configuration.secrets,
    logger,
    ringDoorbell: (conversationId) => ringDoorbell(client, taskQueue, conversationId),
    isWorkflowOpen: (workflowId) => isWorkflowOpen(client, workflowId),
  };
}
