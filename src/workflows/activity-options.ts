import { ActivityCancellationType, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import { workTaskQueueFor } from '../turn/temporal-names.ts';
import type { WorkActivity } from '../turn/temporal-names.ts';

/**
 * The policy's own delay is for workers that die. Every failure and every wait says itself when the next attempt comes
 * (`nextRetryDelay`), as much as a day later. Attempts have no limit, because Temporal counts waits and deaths among them.
 */
const RETRY = { initialInterval: 200, backoffCoefficient: 1, maximumInterval: '1 day' } as const;

/** Database activities. A lost database is waited for without end, because giving up would lose the turn and waiting costs nothing. */
const DATABASE_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '20 seconds',
  retry: RETRY,
};

/** Tools: the claim in Postgres decides whether a retry may act again. Each has its own time limit. */
const TOOL_OPTIONS: ActivityOptions = {
  ...DATABASE_OPTIONS,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/**
 * Calls of a model, summaries among them. A client ends its call after 30 minutes itself (`src/models/protocols/sdk-options.ts`)
 * and says why; an hour more is for a store that is away.
 */
const MODEL_OPTIONS: ActivityOptions = { ...TOOL_OPTIONS, startToCloseTimeout: '90 minutes' };

/** For all hooks of a compaction together, at each of three attempts. */
const HOOKS_TIMEOUT = '10 minutes';

/** A worker serves each queue with these alone: an activity that is called on the other queue would wait for ever. */
type WorkQueueActivities = Pick<Activities, WorkActivity>;
type TurnQueueActivities = Omit<Activities, WorkActivity>;

export type TurnActivities = ReturnType<typeof turnActivities>;

/** The activities as the workflow calls them; queues follow the queue that the workflow itself is on. */
export function turnActivities() {
  const taskQueue = workTaskQueueFor(workflowInfo().taskQueue);
  // Those without words of their own are named where they are called, by what they do then.
  const database = proxyActivities<TurnQueueActivities>(DATABASE_OPTIONS);
  const named = (summary: string) => proxyActivities<TurnQueueActivities>({ ...DATABASE_OPTIONS, summary });
  const work = (options: ActivityOptions) => proxyActivities<WorkQueueActivities>({ ...options, taskQueue });
  const model = work(MODEL_OPTIONS);
  return {
    beginTurn: named('next turn').beginTurn,
    continueTurn: named('turn goes on in a new run').continueTurn,
    lookForStop: named('stop').lookForStop,
    readTimeLeft: named('time left').readTimeLeft,
    compactContext: database.compactContext,
    commitCompaction: database.commitCompaction,
    requestDecisions: named('open decisions').requestDecisions,
    endTurn: database.endTurn,
    askHooks: work({ ...MODEL_OPTIONS, summary: 'hooks', startToCloseTimeout: HOOKS_TIMEOUT }).askHooks,
    summarize: model.summarize,
    changeBranch: work({ ...MODEL_OPTIONS, summary: 'change of branch' }).changeBranch,
    callModel: model.callModel,
    runTool: work(TOOL_OPTIONS).runTool,
  };
}
