import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  ServiceError,
  isGrpcServiceError,
} from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';

/** How often upkeep runs. A message that nobody rang for waits 5 s, then at most this long, or for the end of a run that lasts longer. */
const UPKEEP_INTERVAL = '10 seconds';

/**
 * Milliseconds between looks whether the schedule still exists. With the 10 s until it first runs and the 30 s that a turn must
 * be old, a turn whose workflow was lost with Temporal's data is ended within a minute.
 */
const CHECK_INTERVAL_MILLISECONDS = 20_000;

/** `TaskQueueType.WORKFLOW` of Temporal's API. */
const WORKFLOW_TASK_QUEUE = 1;

/**
 * Codes of gRPC for what passes: UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, INTERNAL and
 * UNAVAILABLE. A missing right or namespace does not.
 */
const PASSING: ReadonlySet<number> = new Set([2, 4, 8, 9, 10, 13, 14]);

export interface UpkeepSchedule {
  readonly client: Client;
  /** Identifies the database, so that two Holdfasts can share a namespace. */
  readonly databaseId: string;
  /** On which upkeep runs. */
  readonly taskQueue: string;
  readonly logger: Logger;
  /** Between two looks; 20,000 unless a test is in a hurry. */
  readonly checkMilliseconds?: number;
}

/** Also the id of the workflow that it starts. */
export function upkeepScheduleId(databaseId: string): string {
  return `holdfast-upkeep:${databaseId}`;
}

/**
 * Makes sure that the upkeep schedule of a database exists, now and again and again: a Temporal server that lost its data has lost
 * it too. It runs on the queue of the worker that started last. Later a worker takes it only from a queue that nobody serves:
 * else workers of two queues would take it from each other for ever.
 *
 * @returns ends the looks
 * @throws what a person must mend, such as a missing right; what passes is tried again
 */
export async function keepUpkeepSchedule(schedule: UpkeepSchedule): Promise<() => void> {
  const { logger, checkMilliseconds = CHECK_INTERVAL_MILLISECONDS } = schedule;
  let isStarting = true;
  let unserved: string | null = null;
  const look = async (): Promise<void> => {
    const other = await createSchedule(schedule);
    if (other !== null) {
      const isServed = !isStarting && (await hasPollers(schedule, other));
      // Twice, for a worker that has just started takes the schedule a moment before it asks for work.
      if (isStarting || (!isServed && unserved === other)) await takeSchedule(schedule);
      unserved = isServed ? null : other;
    }
    isStarting = false;
  };
  const told = (error: unknown): void =>
    logger.warn({ code: error instanceof Error ? error.name : 'unknown' }, 'upkeep schedule could not be checked');
  try {
    await look();
  } catch (error) {
    if (!passes(error)) throw error;
    told(error);
  }
  let isOver = false;
  let timer: NodeJS.Timeout;
  const lookLater = (): void => {
    timer = setTimeout(() => {
      void look()
        .catch(told)
        .finally(() => isOver || lookLater());
    }, checkMilliseconds);
  };
  lookLater();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

function actionOf({ databaseId, taskQueue }: UpkeepSchedule) {
  return {
    type: 'startWorkflow',
    workflowType: 'upkeep',
    workflowId: upkeepScheduleId(databaseId),
    taskQueue,
    args: [],
    workflowRunTimeout: '2 minutes',
  } as const;
}

/** @returns the queue on which the schedule runs, when it existed already and that is another */
async function createSchedule(schedule: UpkeepSchedule): Promise<string | null> {
  const { client, databaseId, taskQueue } = schedule;
  const scheduleId = upkeepScheduleId(databaseId);
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: UPKEEP_INTERVAL }] },
      action: actionOf(schedule),
      // A catchup window of a year, the default, would run thousands of pointless upkeeps after an outage.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
    });
    return null;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  const { action } = await client.schedule.getHandle(scheduleId).describe();
  return action.taskQueue === taskQueue ? null : action.taskQueue;
}

/** What an operator set stays, such as a pause. */
async function takeSchedule(schedule: UpkeepSchedule): Promise<void> {
  const { client, databaseId, taskQueue, logger } = schedule;
  await client.schedule
    .getHandle(upkeepScheduleId(databaseId))
    .update(({ spec, policies, state }) => ({ spec, policies, state, action: actionOf(schedule) }));
  logger.info({ taskQueue }, 'upkeep runs on the queue of this worker now');
}

/** Temporal lists a worker for some minutes after it last asked. */
async function hasPollers({ client }: UpkeepSchedule, taskQueue: string): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOW_TASK_QUEUE,
  });
  return (pollers ?? []).length > 0;
}

function passes(error: unknown): boolean {
  // Deleted between two requests: the next look makes it.
  if (error instanceof ScheduleNotFoundError) return true;
  return error instanceof ServiceError && isGrpcServiceError(error.cause) && PASSING.has(error.cause.code);
}
