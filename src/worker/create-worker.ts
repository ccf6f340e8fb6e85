import { resolve } from 'node:path';
import type { PayloadCodec } from '@temporalio/common';
import { describeError } from '../activities/runtime/failures.ts';
import { withAgents } from '../config/configuration.ts';
import type { DefinedAgent } from '../config/definitions.ts';
import { given } from '../config/environment.ts';
import { requireWorkspaces } from '../config/check/check-workspaces.ts';
import { ConfigurationError } from '../config/errors.ts';
import { requirePolicies } from '../config/check/check-policies.ts';
import { reducersWith } from '../config/reducers.ts';
import { loadConfiguration } from '../config/load-configuration.ts';
import type { McpServersInput } from '../config/mcp-options.ts';
import type { BeforeCompaction } from '../context/policy/compaction-hook.ts';
import type { Reducer } from '../context/plan/reducers/built-in.ts';
import type { CompactionPolicyInput } from '../context/policy/policy.ts';
import { findServers } from '../local/find-servers.ts';
import { temporalAt } from '../temporal/profile.ts';
import { installRuntimeLogger } from '../temporal/logger.ts';
import { createLogger } from '../temporal/process-logger.ts';
import { BUILT_IN_TOOL_NAMES } from '../tools/runtime/names.ts';
import type { ToolDefinition } from '../tools/tool.ts';
import { DEFAULT_TURN_TASK_QUEUE } from '../turn/temporal-names.ts';
import { VERSIONINGS } from './create-turn-workers.ts';
import type { Versioning, WorkerDeployment } from './create-turn-workers.ts';
import { endOnSignals } from './end-worker.ts';
import { serveHealth } from './health.ts';
import { startWorker } from './start-worker.ts';
import type { RunningWorker } from './start-worker.ts';

/** Work waits for the network, so much of it fits into one process. */
const DEFAULT_CONCURRENT_WORK = 100;
/** Most model calls end within this. A longer call is handed over; its stored answer is not bought again. */
export const DEFAULT_SHUTDOWN_GRACE_MILLISECONDS = 30_000;

export interface CreateWorkerOptions {
  /** Agents in code, beside those of `holdfast.yaml`. */
  readonly agents?: readonly DefinedAgent[];
  /** Your own tools, beside the built-in ones. */
  readonly tools?: readonly ToolDefinition[];
  /** MCP servers by name, with the options of `mcpServers` in `holdfast.yaml`, beside those of the file. */
  readonly mcpServers?: McpServersInput;
  /** Your own compaction presets, beside the built-in ones. Agents and conversations choose them by name. */
  readonly presets?: readonly CompactionPolicyInput[];
  /** Your own reducers, made by `defineReducer`, beside the built-in ones. Policies name them under `reduce`. */
  readonly reducers?: readonly Reducer[];
  /** Hooks that run in this order before a compaction with a summary. They may supply it, add to it or cancel. Default: none. */
  readonly beforeCompaction?: readonly BeforeCompaction[];
  /**
   * Files and folders that the built-in file tools refuse, beside Holdfast's own, files with keys and git's hooks. Default: none.
   */
  readonly protectedPaths?: readonly string[];
  /** Folder where the search for `holdfast.yaml` and `.holdfast/` begins. It goes on above. Default: the working directory. */
  readonly directory?: string;
  /** Variables such as `DATABASE_URL`, `TEMPORAL_ADDRESS` and keys of providers. Default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Codecs that encrypt what Temporal stores: ids and counts. A codec must leave alone what it did not encode, and decode with former keys.
   * Default: the codec server of `TEMPORAL_CODEC_ENDPOINT` or the profile, else none.
   */
  readonly payloadCodecs?: readonly PayloadCodec[];
  /**
   * Queue of workflows, model calls and tools. The queue of database activities gets its name from it. Default: `HOLDFAST_TASK_QUEUE`,
   * else `agent-turn`.
   */
  readonly taskQueue?: string;
  /** Model calls, summaries and tools at once. Default: 100. */
  readonly concurrentWork?: number;
  /** Milliseconds that running calls get to finish at shutdown. Default: 30,000. */
  readonly shutdownGraceMilliseconds?: number;
  /**
   * Signals that shut the worker down. Empty: your program calls `shutdown` itself. Default: SIGINT and SIGTERM, which deploys send.
   */
  readonly shutdownSignals?: readonly NodeJS.Signals[];
  /**
   * Name of the Temporal worker deployment, for Worker Versioning. The worker gets no turns before its build is current. Default:
   * `HOLDFAST_DEPLOYMENT`, else unversioned.
   */
  readonly deploymentName?: string;
  /** Id of this build; each release of your worker needs another one. Default: `HOLDFAST_BUILD_ID`. */
  readonly buildId?: string;
  /**
   * `pinned`: an open turn stays on the build that it began on. `auto-upgrade`: it moves to the current build. Default:
   * `HOLDFAST_VERSIONING`, else `pinned`.
   */
  readonly versioning?: Versioning;
}

/**
 * Starts a worker in this process. Servers come from the environment, `holdfast.yaml` or the local stack of `holdfast dev`. Call it once
 * per process, and before Temporal's SDK is used there: its runtime exists once, and a second call throws. It logs to standard error.
 * @throws `ConfigurationError` for a wrong option; `StackError` `stack_not_started` if no server is known; `StoreError` if the database
 * is not migrated
 */
export async function createWorker(options: CreateWorkerOptions = {}): Promise<RunningWorker> {
  const { environment = process.env, directory = process.cwd() } = options;
  const servers = findServers({ environment, directory });
  const reducers = reducersWith(options.reducers ?? []);
  const loaded = loadConfiguration({
    directory,
    environment,
    toolNames: [...BUILT_IN_TOOL_NAMES, ...(options.tools ?? []).map(({ name }) => name)],
    stack: servers,
    reducers,
    ...(options.presets !== undefined && { presets: options.presets }),
    ...(options.mcpServers !== undefined && { mcpServers: options.mcpServers }),
  });
  const protectedPaths = [
    ...loaded.protectedPaths,
    ...(servers.dataDirectory === null ? [] : [servers.dataDirectory]),
    ...(options.protectedPaths ?? []).map((path) => resolve(path)),
  ];
  const configuration = withAgents({ ...loaded, protectedPaths }, options.agents ?? []);
  requireWorkspaces(configuration);
  requirePolicies(configuration, reducers);
  const deployment = deploymentOf(options, environment);
  const logger = createLogger(environment['HOLDFAST_LOG_LEVEL'] ?? 'info');
  installRuntimeLogger(logger);
  const graceMilliseconds = options.shutdownGraceMilliseconds ?? DEFAULT_SHUTDOWN_GRACE_MILLISECONDS;
  const worker = await startWorker({
    configuration,
    databaseUrl: servers.databaseUrl,
    databaseListenUrl: servers.databaseListenUrl,
    temporal: temporalAt(servers, environment),
    payloadCodecs: options.payloadCodecs,
    taskQueue: options.taskQueue ?? environment['HOLDFAST_TASK_QUEUE'] ?? DEFAULT_TURN_TASK_QUEUE,
    tools: options.tools ?? [],
    reducers,
    beforeCompaction: options.beforeCompaction ?? [],
    concurrentWork: options.concurrentWork ?? DEFAULT_CONCURRENT_WORK,
    shutdownGraceMilliseconds: graceMilliseconds,
    deployment,
    environment,
    crashPoints: environment['HOLDFAST_CRASH_POINTS'],
    crashOrders: environment['HOLDFAST_CRASH_ORDERS'],
    logger,
  });
  // Not every program awaits `ended`: a worker that fails must end neither in silence nor with exit code 0.
  worker.ended.catch((error: unknown) => {
    logger.error(describeError(error), 'the worker failed');
    process.exitCode = 1;
  });
  try {
    const port = given(environment, 'HOLDFAST_HEALTH_PORT');
    if (port !== undefined) await serveHealth(Number(port), worker);
  } catch (error) {
    worker.shutdown();
    await worker.ended;
    throw error;
  }
  endOnSignals(worker, { signals: options.shutdownSignals ?? ['SIGINT', 'SIGTERM'], graceMilliseconds });
  return worker;
}

function deploymentOf(
  options: CreateWorkerOptions,
  environment: Readonly<Record<string, string | undefined>>,
): WorkerDeployment | undefined {
  const name = options.deploymentName ?? given(environment, 'HOLDFAST_DEPLOYMENT');
  const buildId = options.buildId ?? given(environment, 'HOLDFAST_BUILD_ID');
  const versioning = options.versioning ?? given(environment, 'HOLDFAST_VERSIONING');
  const behaviour = VERSIONINGS.find((known) => known === versioning);
  if (versioning !== undefined && behaviour === undefined) {
    throw new ConfigurationError(
      'configuration_invalid',
      `versioning (HOLDFAST_VERSIONING) is ${JSON.stringify(versioning)}: write ${VERSIONINGS.join(' or ')}`,
    );
  }
  if (name === undefined && buildId === undefined) return undefined;
  if (name === undefined || buildId === undefined) {
    throw new ConfigurationError(
      'configuration_invalid',
      'a versioned worker needs both deploymentName (HOLDFAST_DEPLOYMENT) and buildId (HOLDFAST_BUILD_ID), or neither',
    );
  }
  return { name, buildId, versioning: behaviour };
}
