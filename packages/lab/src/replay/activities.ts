import { setTimeout as wait } from 'node:timers/promises';
import type { Execution } from 'holdfast/internal/activities/runtime/activity.js';
import type { ActivityDependencies } from 'holdfast/internal/activities/runtime/dependencies.js';
import { FenceWatch } from 'holdfast/internal/activities/runtime/fence-watch.js';
import { createModelPermits } from 'holdfast/internal/activities/runtime/model-permits.js';
import { createOutlastingWork } from 'holdfast/internal/activities/runtime/outlasting-work.js';
import { BUILT_IN_REGISTRY } from 'holdfast/internal/context/plan/reducers/built-in.js';
import { parseModelName } from 'holdfast/internal/models/catalogue/model-name.js';
import type { Database } from 'holdfast/internal/store/database/database.js';
import { newId } from 'holdfast/internal/store/database/ids.js';
import { createLogger } from 'holdfast/internal/temporal/process-logger.js';
import { createToolRegistry } from 'holdfast/internal/tools/runtime/registry.js';
import type { AgentSnapshot } from 'holdfast/internal/turn/agent-snapshot.js';
import type { LabAgent } from './lab-agent.ts';

export const LAB = 'holdfast-lab';

/** What the activities of a turn need, without Temporal and other workers. */
export function dependenciesFor(
  database: Database,
  { summarizer }: LabAgent,
  snapshot: () => AgentSnapshot,
): ActivityDependencies {
  const logger = createLogger('silent');
  return {
    database,
    liveDatabase: database,
    tools: createToolRegistry([]),
    providers: [parseModelName(summarizer.model).provider],
    modelClient: () => summarizer.client,
    modelPermits: createModelPermits({ database, providers: [] }),
    serverOf: () => '',
    embedder: null,
    snapshotFor: () => Promise.resolve(snapshot()),
    reducers: BUILT_IN_REGISTRY,
    beforeCompaction: [],
    secrets: [],
    protectedPaths: [],
    readKeys: () => Promise.resolve(),
    logger,
    reachCrashPoint: () => undefined,
    fenceWatch: new FenceWatch(database, logger),
    outlastingWork: createOutlastingWork(),
    workerIdentity: LAB,
    worksOn: () => () => undefined,
    isServed: () => Promise.resolve(true),
    newestRunOf: () => Promise.resolve(null),
    isWorkflowOpen: () => Promise.resolve(true),
  };
}

/** The first try of an activity. */
export function newExecution(): Execution {
  return {
    attempt: 1,
    signal: new AbortController().signal,
    workflowId: newId(),
    runId: newId(),
    activityId: '1',
    scheduledAt: new Date(),
    timeLimit: 3_600_000,
    report: () => undefined,
  };
}

/** Waits for a provider that cannot be reached, before the replay gives up. */
const MOST_WAITS = 5;

/** Retries an activity as Temporal does. @param refused told of each answer that did not pass its checks */
export async function withRetries<Result>(
  activity: (execution: Execution) => Promise<Result>,
  refused: () => void,
): Promise<Result> {
  const execution = newExecution();
  for (let attempt = 1, waits = 0; ; attempt += 1) {
    try {
      return await activity({ ...execution, attempt });
    } catch (error) {
      const { type, delay } = retryOf(error);
      if (delay === null) throw error;
      // Temporal waits between answers that were refused, so that a provider may recover; their texts do not depend on it.
      if (type === 'Summary.refused') refused();
      else if ((waits += 1) > MOST_WAITS) throw error;
      else await wait(delay);
    }
  }
}

function retryOf(error: unknown): { readonly type: string; readonly delay: number | null } {
  if (!(error instanceof Error)) return { type: '', delay: null };
  const type = 'type' in error && typeof error.type === 'string' ? error.type : '';
  const delay = 'nextRetryDelay' in error && typeof error.nextRetryDelay === 'number' ? error.nextRetryDelay : null;
  return { type, delay };
}
