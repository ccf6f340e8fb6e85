import { Client } from '@temporalio/client';
import { pino } from 'pino';
import { createModelPermits } from '../../../src/activities/runtime/model-permits.ts';
import { BUILT_IN_REGISTRY } from '../../../src/context/plan/reducers/built-in.ts';
import { createActivities } from '../../../src/activities/create-activities.ts';
import { createFenceWatch } from '../../../src/activities/runtime/fence-watch.ts';
import { createOutlastingWork } from '../../../src/activities/runtime/outlasting-work.ts';
import type { Activities } from '../../../src/activities/create-activities.ts';
import { withAgents } from '../../../src/config/configuration.ts';
import { defineAgent } from '../../../src/config/define-agent.ts';
import { loadConfiguration } from '../../../src/config/load-configuration.ts';
import { createModelClients } from '../../../src/models/model-clients.ts';
import { connectDatabase } from '../../../src/store/database/database.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { createListeners } from '../../../src/store/database/listen.ts';
import { connectClient, connectWorker } from '../../../src/temporal/connect.ts';
import { loadWorkflowBundle } from '../../../src/temporal/workflow-bundle.ts';
import { createToolRegistry } from '../../../src/tools/runtime/registry.ts';
import { createSnapshotSource } from '../../../src/worker/agent-snapshots.ts';
import { createTurnWorkers, tellCancelled } from '../../../src/worker/create-turn-workers.ts';
import type { TurnWorkers } from '../../../src/worker/create-turn-workers.ts';
import { pause, pauseTool, restTool } from './pause.ts';
import { TASK_QUEUES } from './settings.ts';
import type { WorkerSettings } from './settings.ts';

/**
 * A worker as `startWorker` makes it, upkeep left out so that nothing else runs meanwhile, and with a
 * compactContext that first takes as long as the raw workflow's counterpart does.
 */
export async function createHoldfastWorker(settings: WorkerSettings): Promise<TurnWorkers> {
  const connection = await connectWorker(settings.temporal);
  const client = await connectClient(settings.temporal);
  const database = connectDatabase({
    url: settings.databaseUrl,
    applicationName: 'holdfast-worker',
    maximumConnections: 20,
  });
  const activities = await benchActivities(settings, client, database);
  return createTurnWorkers({
    connection,
    namespace: settings.temporal.namespace,
    workflowBundle: await loadWorkflowBundle(),
    activities: withPause(activities),
    taskQueue: TASK_QUEUES.holdfast,
    identity: `bench-holdfast-${process.pid}`,
    concurrentWork: settings.concurrentWork,
    shutdownGraceMilliseconds: 1_000,
    cancelled: tellCancelled(database, pino({ level: 'silent' })),
  });
}

function withPause(activities: Activities): Activities {
  return {
    ...activities,
    async compactContext(input) {
      await pause();
      return activities.compactContext(input);
    },
  };
}

async function benchActivities(settings: WorkerSettings, client: Client, database: Database): Promise<Activities> {
  const { databaseUrl, simulatorUrl, workspace } = settings;
  const loaded = loadConfiguration({ directory: workspace, environment: { HOLDFAST_SIMULATOR_URL: simulatorUrl } });
  const agent = defineAgent({
    name: 'default',
    model: 'simulator/sim-200k',
    instructions: 'You do what the script says.',
    tools: [pauseTool, restTool],
    limits: { steps: 10_000 },
    workspace,
  });
  const configuration = withAgents(loaded, [agent]);
  const tools = createToolRegistry([pauseTool, restTool]);
  const logger = pino({ level: 'silent' });
  return createActivities({
    database,
    liveDatabase: connectDatabase({ url: databaseUrl, applicationName: 'holdfast-live', maximumConnections: 1 }),
    tools,
    providers: configuration.providers.map(({ name }) => name),
    modelClient: createModelClients(configuration.providers),
    modelPermits: createModelPermits({ database, providers: [] }),
    embedder: null,
    learnedWindows: { serverOf: (provider) => provider, forgetAfterDays: 30 },
    snapshotFor: createSnapshotSource(configuration, tools),
    reducers: BUILT_IN_REGISTRY,
    beforeCompaction: [],
    secrets: [],
    protectedPaths: [],
    readKeys: () => Promise.resolve(),
    logger,
    reachCrashPoint: () => undefined,
    fenceWatch: createFenceWatch(database, logger, createListeners(database)),
    outlastingWork: createOutlastingWork(logger),
    workerIdentity: `bench-holdfast-${process.pid}`,
    newestRunOf: async (workflowId) => (await client.workflow.getHandle(workflowId).describe()).runId,
    isWorkflowOpen: async () => true,
    worksOn: () => ({ told: null, done: () => undefined }),
  });
}
