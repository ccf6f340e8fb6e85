import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import { pino } from 'pino';
import { afterAll, beforeAll, inject } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';
import type { EndedTurn } from '../../src/client/types.ts';
import { withAgents } from '../../src/config/configuration.ts';
import type { Configuration } from '../../src/config/configuration.ts';
import { defineAgent } from '../../src/config/define-agent.ts';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import type { BeforeCompaction } from '../../src/context/policy/compaction-hook.ts';
import type { Reducer } from '../../src/context/plan/reducers/built-in.ts';
import type { CompactionPolicyInput } from '../../src/context/policy/policy.ts';
import { reducersWith } from '../../src/config/reducers.ts';
import type { ProviderDefinition } from '../../src/models/provider.ts';
import { startSimulator } from '../../packages/simulator/src/index.ts';
import { connectDatabase } from '../../src/store/database/database.ts';
import type { Database } from '../../src/store/database/database.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { turnWorkflowId } from '../../src/turn/temporal-names.ts';
import type { ToolDefinition } from '../../src/tools/tool.ts';
import type { WorkerDeployment } from '../../src/worker/create-turn-workers.ts';
import { startWorker } from '../../src/worker/start-worker.ts';
import type { ActivityObserver, RunningWorker } from '../../src/worker/start-worker.ts';
import { lazily } from './lazily.ts';
import { steerSimulator } from './simulator-controls.ts';
import type { SimulatorControls } from './simulator-controls.ts';
import { installTestRuntime } from './runtime-logger.ts';
import { createTestDatabase } from './database.ts';

type AgentInput = Partial<Parameters<typeof defineAgent>[0]>;

export interface HarnessOptions {
  /** Overrides of the agent `default`; its model is `simulator/sim-32k`. */
  readonly agent?: AgentInput;
  readonly tools?: readonly ToolDefinition[];
  readonly beforeCompaction?: readonly BeforeCompaction[];
  /** Presets besides the built-in ones. */
  readonly presets?: readonly CompactionPolicyInput[];
  readonly reducers?: readonly Reducer[];
  /** Takes each line of the worker's log, debug lines included. Default: nothing is logged. */
  readonly log?: (line: string) => void;
  /** Text of `holdfast.yaml`. Default: there is none. */
  readonly configurationFile?: string | ((servers: { readonly simulatorUrl: string }) => string);
  /** Variables that the configuration is loaded with, and that tools' commands inherit. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Limits of the provider `simulator`. */
  readonly providerLimits?: NonNullable<ProviderDefinition['limits']>;
  /** `true`: upkeep runs every ten seconds beside the turns, as in production. Default: when `runUpkeep` is called. */
  readonly upkeep?: true;
  /** `host:port` of another Temporal server than the shared one. */
  readonly temporalAddress?: string;
  /** URL of another Postgres than the shared one. */
  readonly databaseServer?: string;
}

/** Everything that one test file needs to run turns: a database, a task queue, a simulator and a workspace of its own. */
export interface TurnHarness extends SimulatorControls {
  readonly client: Holdfast;
  /** As a superuser. */
  readonly database: Database;
  /** As the role of the application. */
  readonly databaseUrl: string;
  readonly temporal: Client;
  readonly temporalAddress: string;
  readonly taskQueue: string;
  readonly simulatorUrl: string;
  readonly workspace: string;
  /** Environment that gives a worker process the same servers. */
  readonly environment: Record<string, string>;
  startWorker(options?: {
    readonly deployment?: WorkerDeployment;
    readonly observer?: ActivityObserver;
    /** Of this worker alone, in place of the agent `default`. */
    readonly agent?: AgentInput;
    /** Of this worker alone. Default: those of the harness. */
    readonly tools?: readonly ToolDefinition[];
    /** Of this worker alone: it gets no turn of the harness. */
    readonly taskQueue?: string;
  }): Promise<RunningWorker>;
  /** Starts a task and waits for its outcome. */
  runTask(
    task: string,
    options?: {
      readonly agent?: string;
      readonly model?: string;
      readonly conversationId?: string;
      readonly timeoutMilliseconds?: number;
    },
  ): Promise<EndedTurn & { conversationId: string }>;
  /** Lets the worker that was started last do what is due, once. */
  runUpkeep(): Promise<void>;
  /** Raw history of the newest run of a conversation's turn, as JSON. */
  history(conversationId: string): Promise<string>;
  /** Stops workers, simulator and connections; fails when something was left open. */
  stop(): Promise<void>;
}

/**
 * As if they were there: without a thread the SDK would hook two functions into each promise of this process, those of Postgres and HTTP
 * too, and leave them there. They collect what Temporal shows as the stack of an open workflow, for which nothing here asks.
 */
globalHandlers.installed = true;

/** Workers that are about to be created. */
let creating = 0;

/**
 * Workflows of a worker in the tests' own process run in its main thread: the start of another one, with all its modules, takes most
 * of a second of the processor. Worker processes, which tests start too, have their thread.
 */
export async function withoutThread<Worker>(create: () => Promise<Worker>): Promise<Worker> {
  creating += 1;
  // What the SDK reads as it creates a worker.
  process.env['TEMPORAL_DEBUG'] = 'true';
  try {
    return await create();
  } finally {
    creating -= 1;
    if (creating === 0) delete process.env['TEMPORAL_DEBUG'];
  }
}

/** For all tests of a file: started before the first, stopped after the last. */
export function useTurnHarness(options: HarnessOptions = {}): TurnHarness {
  let harness: TurnHarness | undefined;
  beforeAll(async () => {
    harness = await startTurnHarness(options);
  });
  afterAll(() => harness?.stop());
  return lazily(() => harness);
}

/** The same with a worker. */
export function useWorkingHarness(options: HarnessOptions = {}): TurnHarness {
  const harness = useTurnHarness(options);
  beforeAll(() => harness.startWorker());
  return harness;
}

export async function startTurnHarness(options: HarnessOptions = {}): Promise<TurnHarness> {
  const { log } = options;
  const logger =
    log === undefined
      ? pino({ level: process.env['HOLDFAST_LOG_LEVEL'] ?? 'silent' })
      : pino({ level: 'debug' }, { write: log });
  installTestRuntime(logger);
  const temporalAddress = options.temporalAddress ?? inject('temporalAddress');
  const [testDatabase, simulator, temporal, workspace] = await Promise.all([
    createTestDatabase(options.databaseServer),
    startSimulator({ port: 0 }),
    connectClient({ address: temporalAddress, namespace: 'default' }),
    mkdtemp(join(tmpdir(), 'holdfast-workspace-')),
  ]);
  await mkdir(workspace, { recursive: true });
  if (options.configurationFile !== undefined)
    await writeFile(
      join(workspace, 'holdfast.yaml'),
      typeof options.configurationFile === 'string'
        ? options.configurationFile
        : options.configurationFile({ simulatorUrl: simulator.url }),
    );
  const taskQueue = `agent-turn-${randomUUID()}`;
  const databaseUrl = testDatabase.url;
  const client = await connect({
    databaseUrl,
    taskQueue,
    temporal: { address: temporalAddress, namespace: 'default' },
  });
  const database = connectDatabase({ url: testDatabase.ownerUrl, applicationName: 'holdfast-test' });
  const workers: RunningWorker[] = [];
  const configuration = harnessConfiguration(options, simulator.url, workspace);
  return {
    client,
    database,
    databaseUrl,
    temporal,
    temporalAddress,
    taskQueue,
    simulatorUrl: simulator.url,
    workspace,
    environment: {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      HOLDFAST_SIMULATOR_URL: simulator.url,
      HOLDFAST_TASK_QUEUE: taskQueue,
    },
    async startWorker({ deployment, observer, agent, tools = options.tools ?? [], taskQueue: queue = taskQueue } = {}) {
      const worker = await withoutThread(async () =>
        startWorker({
          configuration:
            agent === undefined ? configuration : harnessConfiguration({ ...options, agent }, simulator.url, workspace),
          databaseUrl,
          temporal: { address: temporalAddress, namespace: 'default' },
          taskQueue: queue,
          tools,
          reducers: reducersWith(options.reducers ?? []),
          beforeCompaction: options.beforeCompaction ?? [],
          concurrentWork: 20,
          shutdownGraceMilliseconds: 1_000,
          crashPoints: undefined,
          deployment,
          observer,
          hasTimedUpkeep: options.upkeep ?? false,
          environment: { ...process.env, ...options.environment },
          logger,
        }),
      );
      workers.push(worker);
      return worker;
    },
    async runTask(task, { conversationId, timeoutMilliseconds = 240_000, ...start } = {}) {
      const sent =
        conversationId === undefined
          ? await client.start(task, { ...start })
          : await client.conversation.send({ conversationId, content: task, mode: 'queue' });
      const turn = await client.conversation.outcome({ ...sent, timeoutMilliseconds });
      if (turn.state === 'served') throw new TypeError('a message is taken by a turn');
      return { ...turn, conversationId: sent.conversationId };
    },
    ...steerSimulator(simulator.url),
    async runUpkeep() {
      const worker = workers.at(-1);
      if (worker === undefined) throw new Error('upkeep is the work of a worker');
      await worker.runUpkeep();
    },
    async history(conversationId) {
      const history = await temporal.workflow.getHandle(turnWorkflowId(conversationId)).fetchHistory();
      return JSON.stringify(history);
    },
    async stop() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(workers.map((worker) => worker.ended));
      await client.close();
      await temporal.connection.close();
      await simulator.close();
      await database.end({ timeout: 5 });
      await testDatabase.drop();
      await rm(workspace, { recursive: true, force: true });
    },
  };
}

function harnessConfiguration(options: HarnessOptions, simulatorUrl: string, workspace: string): Configuration {
  const loaded = loadConfiguration({
    directory: workspace,
    environment: { HOLDFAST_SIMULATOR_URL: simulatorUrl, ...options.environment },
    reducers: reducersWith(options.reducers ?? []),
    ...(options.presets !== undefined && { presets: options.presets }),
  });
  const agent = defineAgent({ name: 'default', model: 'simulator/sim-32k', workspace, ...options.agent });
  const { providerLimits: limits } = options;
  const providers =
    limits === undefined ? loaded.providers : loaded.providers.map((one) => Object.assign({}, one, { limits }));
  return withAgents({ ...loaded, providers }, [agent]);
}
