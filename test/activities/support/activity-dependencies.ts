import { pino } from 'pino';
import type { Execution } from '../../../src/activities/runtime/activity.ts';
import type { ActivityDependencies } from '../../../src/activities/runtime/dependencies.ts';
import { FenceWatch } from '../../../src/activities/runtime/fence-watch.ts';
import { createOutlastingWork } from '../../../src/activities/runtime/outlasting-work.ts';
import { createModelPermits } from '../../../src/activities/runtime/model-permits.ts';
import { BUILT_IN_REGISTRY } from '../../../src/context/plan/reducers/built-in.ts';
import { createModelClients } from '../../../src/models/model-clients.ts';
import type { ProviderDefinition } from '../../../src/models/provider.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { createToolRegistry } from '../../../src/tools/runtime/registry.ts';
import type { ToolDefinition } from '../../../src/tools/tool.ts';
import { TOOL_TIMEOUT_MARGIN_MILLISECONDS } from '../../../src/turn/limits.ts';
import { SNAPSHOT } from '../../store/support/store-builders.ts';

/** What activities need when a test calls them itself, without Temporal. */
export function activityDependencies(
  database: Database,
  options: {
    readonly tools?: readonly ToolDefinition[];
    readonly simulatorUrl?: string;
    readonly worker?: string;
    /** Limits of the provider. Default: its calls pass no queue. */
    readonly providerLimits?: NonNullable<ProviderDefinition['limits']>;
  } = {},
): ActivityDependencies {
  const logger = pino({ level: process.env['HOLDFAST_LOG_LEVEL'] ?? 'silent' });
  const { providerLimits } = options;
  const baseUrl = options.simulatorUrl ?? 'http://127.0.0.1:1';
  const provider = { name: 'sim', protocol: 'anthropic', baseUrl, apiKey: 'key' } as const;
  return {
    database,
    liveDatabase: database,
    tools: createToolRegistry(options.tools ?? []),
    providers: [provider.name],
    modelClient: createModelClients([provider]),
    modelPermits: createModelPermits({
      database,
      providers: providerLimits === undefined ? [] : [{ ...provider, limits: providerLimits }],
    }),
    embedder: null,
    serverOf: (provider) => provider,
    snapshotFor: () => Promise.resolve(SNAPSHOT),
    reducers: BUILT_IN_REGISTRY,
    beforeCompaction: [],
    secrets: [],
    protectedPaths: [],
    readKeys: () => Promise.resolve(),
    logger,
    reachCrashPoint: () => undefined,
    fenceWatch: new FenceWatch(database, logger),
    outlastingWork: createOutlastingWork(),
    workerIdentity: options.worker ?? 'worker-2',
    newestRunOf: () => Promise.resolve('run'),
    isWorkflowOpen: () => Promise.resolve(true),
    worksOn: () => () => undefined,
    isServed: () => Promise.resolve(false),
  };
}

/** One try of an activity that nobody stops unless `signal` is given. */
export function execution(overrides: Partial<Execution> = {}): Execution {
  return {
    attempt: 1,
    signal: new AbortController().signal,
    workflowId: 'workflow',
    report: () => undefined,
    runId: 'run',
    activityId: '1',
    scheduledAt: new Date(),
    timeLimit: TOOL_TIMEOUT_MARGIN_MILLISECONDS + 600_000,
    ...overrides,
  };
}
