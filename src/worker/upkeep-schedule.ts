import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, ServiceError, isGrpcServiceError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';

/** How often upkeep runs. A message that nobody rang for waits 5 s, then at most this long, or for the end of a run that lasts longer. */
const UPKEEP_INTERVAL = '10 seconds';

/**
 * Milliseconds between looks whether the schedule still exists. With the 10 s until it first runs and the 30 s that a turn must
 * be old, a turn whose workflow was lost with Temporal's data is ended within a minute.
 */
const CHECK_INTERVAL_MILLISECONDS = 20_000;

/**
 * Codes of gRPC for what passes: UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, INTERNAL and
 * UNAVAILABLE. A missing right or namespace does not.
 */
const PASSING: ReadonlySet<number> = new Set([2, 4, 8, 9, 10, 13, 14]);

export interface UpkeepSchedule {
  readonly client: Client;
  /** On which upkeep runs, for the conversations of its workers. */
  readonly taskQueue: string;
  readonly logger: Logger;
  /** Between two looks; 20,000 unless a test is in a hurry. */
  readonly checkMilliseconds?: number;
}

/** Also the id of the workflow that it starts. */
export function upkeepScheduleId(taskQueue: string): string {
  return `holdfast-upkeep:${taskQueue}`;
}

/**
 * Makes sure that the upkeep schedule of a task queue exists, now and again and again: a Temporal server that lost its data has lost
 * it too. What an operator set on one that exists stays, such as a pause.
 *
 * @returns ends the looks
 * @throws what a person must mend, such as a missing right; what passes is tried again
 */
export async function keepUpkeepSchedule(schedule: UpkeepSchedule): Promise<() => void> {
  const { logger, checkMilliseconds = CHECK_INTERVAL_MILLISECONDS } = schedule;
  const told = (error: unknown): void =>
    logger.warn({ code: error instanceof Error ? error.name : 'unknown' }, 'upkeep schedule could not be checked');
  try {
    await createSchedule(schedule);
  } catch (error) {
    if (!passes(error)) throw error;
    told(error);
  }
  let isOver = false;
  let timer: NodeJS.Timeout;
  const lookLater = (): void => {
    timer = setTimeout(() => {
      void createSchedule(schedule)
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

async function createSchedule({ client, taskQueue }: UpkeepSchedule): Promise<void> {
  const scheduleId = upkeepScheduleId(taskQueue);
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: UPKEEP_INTERVAL }] },
      action: {
        type: 'startWorkflow',
        workflowType: 'upkeep',
        workflowId: scheduleId,
        taskQueue,
        args: [],
        workflowRunTimeout: '2 minutes',
      },
      // A catchup window of a year, the default, would run thousands of pointless upkeeps after an outage.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}

function passes(error: unknown): boolean {
  return error instanceof ServiceError && isGrpcServiceError(error.cause) && PASSING.has(error.cause.code);
}
