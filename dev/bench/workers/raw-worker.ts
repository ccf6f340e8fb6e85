import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker, bundleWorkflowCode } from '@temporalio/worker';
import { connectWorker } from '../../../src/temporal/connect.ts';
import { CACHED_WORKFLOWS, TAKEOVER_OPTIONS } from '../../../src/worker/create-turn-workers.ts';
import { createRawActivities } from './raw-activities.ts';
import { RAW_WORK_QUEUE, TASK_QUEUES } from './settings.ts';
import type { MeasuredWorker, WorkerSettings } from './settings.ts';

/**
 * Two workers with the options of Holdfast's own: the same slots, cache and timers. Model calls and tools have a queue of their own, where
 * they keep nothing else waiting; the first worker takes them too, for a workflow with one queue.
 */
export async function createRawWorker(settings: WorkerSettings): Promise<MeasuredWorker> {
  if (settings.requestsFile === null) throw new TypeError('a raw worker needs the requests to repeat');
  const requests: unknown[] = JSON.parse(readFileSync(settings.requestsFile, 'utf8'));
  const activities = createRawActivities(
    settings.simulatorUrl,
    requests.map((request) => JSON.stringify(request)),
  );
  const common = {
    connection: await connectWorker(settings.temporal),
    namespace: settings.temporal.namespace,
    identity: `bench-raw-${process.pid}`,
    shutdownGraceTime: 1_000,
    ...TAKEOVER_OPTIONS,
  };
  const workers = [
    await Worker.create({
      ...common,
      taskQueue: TASK_QUEUES.raw,
      workflowBundle: await bundleWorkflowCode({
        workflowsPath: fileURLToPath(new URL('raw-workflow.ts', import.meta.url)),
        logger: silentLogger,
      }),
      maxCachedWorkflows: CACHED_WORKFLOWS,
      activities,
      maxConcurrentActivityTaskExecutions: settings.concurrentWork,
    }),
    await Worker.create({
      ...common,
      taskQueue: RAW_WORK_QUEUE,
      activities,
      maxConcurrentActivityTaskExecutions: settings.concurrentWork,
    }),
  ];
  return {
    shutdown: () => workers.forEach((worker) => worker.shutdown()),
    identity: common.identity,
    ended: Promise.all(workers.map((worker) => worker.run())).then(() => undefined),
  };
}

const ignore = (): void => undefined;
const silentLogger = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
