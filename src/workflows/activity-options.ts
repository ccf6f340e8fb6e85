import { ActivityCancellationType, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import { workTaskQueueFor } from '../turn/task-queues.ts';

/**
 * For what fails without a word: a worker that dies, or forgets. Temporal counts attempts of every kind, so the longest wait is
 * short: by a backoff up to 16 s what was tried five times before a worker died would stand still for three times as long as its
 * death takes to be noticed (measured by the soak). What fails with an error says itself how long to wait (`withRetryDelay`).
 */
const SOON = { initialInterval: 200, backoffCoefficient: 2, maximumInterval: '1 second' } as const;

/**
 * Database activities. A lost worker is noticed after the heartbeat timeout; a lost database is
 * waited for without end, because giving up would lose the turn and waiting costs nothing.
 */
const DATABASE_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '30 seconds',
  heartbeatTimeout: '5 seconds',
  retry: SOON,
};

/**
 * Calls of a model, summaries among them. Attempts have no limit here: they count deaths of workers as well as failures of
 * the model, and only the latter may end a call, so those are counted in Postgres. They also say how long to wait:
 * 1, 2, 4, 8, 16 s (`retryDelayMilliseconds`, seeds/wolffish.md).
 * 35 minutes: a client ends its call after 30 itself (`src/models/protocols/sdk-options.ts`), and says why; Temporal's timeout
 * would only say that time is over.
 */
const MODEL_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '35 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: SOON,
};

/** Tools: the claim in Postgres decides whether a retry may act again, so retries come at once. */
const TOOL_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: SOON,
};

export type TurnActivities = ReturnType<typeof turnActivities>;

/** The activities as the workflow calls them; queues follow the queue that the workflow itself is on. */
export function turnActivities() {
  const taskQueue = workTaskQueueFor(workflowInfo().taskQueue);
  // Those without words of their own are named where they are called, by what they do then.
  const database = proxyActivities<Activities>(DATABASE_OPTIONS);
  const named = (summary: string) => proxyActivities<Activities>({ ...DATABASE_OPTIONS, summary });
  const model = proxyActivities<Activities>({ ...MODEL_OPTIONS, taskQueue });
  const tool = proxyActivities<Activities>({ ...TOOL_OPTIONS, taskQueue });
  return {
    beginTurn: named('next turn').beginTurn,
    continueTurn: named('turn goes on in a new run').continueTurn,
    takeMessages: named('steering messages').takeMessages,
    lookAtInbox: named('what waits').lookAtInbox,
    compactContext: database.compactContext,
    commitCompaction: database.commitCompaction,
    requestDecisions: named('open decisions').requestDecisions,
    endTurn: database.endTurn,
    summarize: model.summarize,
    changeBranch: proxyActivities<Activities>({ ...MODEL_OPTIONS, taskQueue, summary: 'change of branch' })
      .changeBranch,
    callModel: model.callModel,
    runTool: tool.runTool,
  };
}
