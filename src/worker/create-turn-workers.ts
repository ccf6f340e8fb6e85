import { IllegalStateError } from '@temporalio/common';
import type { PayloadCodec } from '@temporalio/common';
import { GracefulShutdownPeriodExpiredError, Worker } from '@temporalio/worker';
import type { InjectedSinks, NativeConnection, WorkerOptions, WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Activities } from '../activities/create-activities.ts';
import { describeError } from '../activities/runtime/failures.ts';
import type { Database } from '../store/database/database.ts';
import { markCancelled } from '../store/turns/fences.ts';
import { dataConverterWith } from '../temporal/data-converter.ts';
import { readVersion } from '../temporal/package-version.ts';
import { patientCodec } from '../temporal/payload-codec.ts';
import { traceActivities } from '../temporal/trace-activities.ts';
import type { WorkSinks } from '../turn/activity-values.ts';
import { databaseTaskQueueFor } from '../turn/temporal-names.ts';
import type { WorkActivity } from '../turn/temporal-names.ts';

/** How the workers of a process serve their queues. */
export interface ServingOptions {
  /** Queue of workflows, model calls and tools. The queue of database activities gets its name from it. */
  readonly taskQueue: string;
  /** Model calls, summaries and tools at once. */
  readonly concurrentWork: number;
  /** Milliseconds that running calls get to finish after a shutdown, before another worker takes them. */
  readonly shutdownGraceMilliseconds: number;
  /** Absent: unversioned. */
  readonly deployment?: WorkerDeployment | undefined;
}

interface TurnWorkerOptions extends ServingOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** For Temporal's payloads, applied from the last to the first. Default: none. */
  readonly codecs?: readonly PayloadCodec[];
  /** Gets what a codec could not do and why. Default: nothing. */
  readonly onCodecFailure?: (reason: string) => void;
  readonly workflowBundle: WorkflowBundleOption;
  readonly activities: Activities;
  readonly identity: string;
  readonly sinks: InjectedSinks<WorkSinks>;
}

/** Whether an open turn stays on its build (`pinned`) or moves to the current one (`auto-upgrade`). */
export const VERSIONINGS = ['pinned', 'auto-upgrade'] as const;
export type Versioning = (typeof VERSIONINGS)[number];

/** The worker deployment and build of a worker. */
export interface WorkerDeployment {
  readonly name: string;
  readonly buildId: string;
  /** Default: `pinned`. */
  readonly versioning?: Versioning | undefined;
}

/** With a deployment, a turn stays on its build unless told otherwise (`docs/versions.md`). Without one, any worker takes any turn. */
function versioning(
  deployment: WorkerDeployment | undefined,
): Pick<WorkerOptions, 'buildId' | 'workerDeploymentOptions'> {
  // Eight events of a step hold the build id. The default contains a checksum of the workflow's code, which takes 500 bytes a step.
  if (deployment === undefined) return { buildId: `holdfast@${readVersion()}` };
  const { name: deploymentName, buildId } = deployment;
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: deployment.versioning === 'auto-upgrade' ? 'AUTO_UPGRADE' : 'PINNED',
    },
  };
}

/** Milliseconds after the grace period in which cancelled activities may end. */
const FORCED_SHUTDOWN_MARGIN_MILLISECONDS = 3_000;

/**
 * For a dead worker whose session did not show its death, a workflow waits a second. Heartbeats every five seconds are the safety net
 * below the session.
 */
export const TAKEOVER_OPTIONS = {
  stickyQueueScheduleToStartTimeout: '1 second',
  maxHeartbeatThrottleInterval: '5 seconds',
  defaultHeartbeatThrottleInterval: '5 seconds',
  // Temporal serves polls in turn. With few pollers, work that one worker leaves to others soon reaches one of them. Measured: by the
  // second attempt instead of the sixth, with as many activities a second as five pollers give.
  activityTaskPollerBehavior: { type: 'autoscaling', minimum: 1, initial: 2, maximum: 20 },
} as const satisfies Partial<WorkerOptions>;

/**
 * Workflows kept in memory. The SDK's default follows the heap and counts no sizes. A turn's state is small, but each workflow costs
 * about a megabyte with its activities (`Worker` documentation).
 */
export const CACHED_WORKFLOWS = 200;

/** One per queue, so that waiting model calls never delay a stop. */
export async function createTurnWorkers(options: TurnWorkerOptions): Promise<readonly Worker[]> {
  const { codecs = [], onCodecFailure } = options;
  const { askHooks, summarize, callModel, runTool, ...databaseActivities } = options.activities;
  const workActivities: Pick<Activities, WorkActivity> = { askHooks, summarize, callModel, runTool };
  const { compactContext } = databaseActivities;
  const common = {
    connection: options.connection,
    namespace: options.namespace,
    identity: options.identity,
    dataConverter: dataConverterWith(codecs.length === 0 ? [] : [patientCodec(codecs, onCodecFailure)]),
    interceptors: { activity: [traceActivities] },
    shutdownGraceTime: options.shutdownGraceMilliseconds,
    // An activity that waits for a lost database would hold the process for ever.
    shutdownForceTime: options.shutdownGraceMilliseconds + FORCED_SHUTDOWN_MARGIN_MILLISECONDS,
    ...TAKEOVER_OPTIONS,
    ...versioning(options.deployment),
  };
  const turn = await Worker.create({
    ...common,
    taskQueue: options.taskQueue,
    workflowBundle: options.workflowBundle,
    sinks: options.sinks,
    maxCachedWorkflows: CACHED_WORKFLOWS,
    // The check before a model call is a local activity of the workflow.
    activities: { ...workActivities, compactContext },
    maxConcurrentActivityTaskExecutions: options.concurrentWork,
  });
  const database = await Worker.create({
    ...common,
    taskQueue: databaseTaskQueueFor(options.taskQueue),
    activities: databaseActivities,
  });
  return [turn, database];
}

/**
 * Runs workers that end together, by `shutdown` or because one of them failed.
 * @param graceOver called when a shutdown's grace period is over, and before `close`
 */
export function runTogether(
  workers: readonly Pick<Worker, 'getState' | 'run' | 'shutdown'>[],
  { grace, graceOver, close }: { grace: number; graceOver: () => Promise<void>; close: () => Promise<void> },
): { readonly ended: Promise<void>; readonly shutdown: () => void; readonly isShuttingDown: () => boolean } {
  let timer: NodeJS.Timeout | undefined;
  let isEnding = false;
  const endAll = (): void => {
    isEnding = true;
    for (const each of workers) if (each.getState() === 'RUNNING') each.shutdown();
  };
  const runOne = async (worker: Pick<Worker, 'run'>): Promise<void> => {
    try {
      await worker.run();
    } catch (error) {
      const wasEnding = isEnding;
      // If one fails, the other must not go on alone.
      endAll();
      if (!wasEnding || !isOnlyLate(error)) throw error;
    }
  };
  const run = async (): Promise<void> => {
    const runs = workers.map(runOne);
    // All workers use the connections, which are closed after this.
    await Promise.allSettled(runs);
    clearTimeout(timer);
    await graceOver();
    await close();
    await Promise.all(runs);
  };
  return {
    ended: run(),
    isShuttingDown: () => timer !== undefined,
    shutdown() {
      timer ??= setTimeout(() => void graceOver(), grace);
      endAll();
    },
  };
}

/**
 * Whether a worker that was shut down only reports unfinished work, which Temporal hands over to another worker. The SDK's "Worker still
 * in use" is such a report: a heartbeat was on its way when all work had ended.
 */
function isOnlyLate(error: unknown): boolean {
  return error instanceof GracefulShutdownPeriodExpiredError || error instanceof IllegalStateError;
}

/** Tells running work of all workers that it is cancelled. Without Postgres, heartbeats tell it. */
export function workSinks(database: Database, logger: Logger): InjectedSinks<WorkSinks> {
  return {
    work: {
      cancelled: {
        // Not awaited, because Temporal must know of the cancellation first, and it gets the workflow task after this.
        fn({ workflowId, runId }, activityId) {
          markCancelled(database, { workflowId, runId, activityId }).catch((error: unknown) =>
            logger.warn({ workflowId, ...describeError(error) }, 'running work was not told that it is cancelled'),
          );
        },
      },
    },
  };
}
