import { ActivityCancellationType, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { Activities } from '../activities/create-activities.ts';
import { databaseTaskQueueFor } from '../turn/temporal-names.ts';
import type { WorkActivity } from '../turn/temporal-names.ts';

/**
 * This delay is for workers that die. Every failure and wait names its own next attempt (`nextRetryDelay`), up to a day later. Attempts
 * have no limit, because Temporal counts waits and deaths among them.
 */
const RETRY = { initialInterval: 200, backoffCoefficient: 1, maximumInterval: '1 day' } as const;

/** Database activities wait for a lost database without end: giving up would lose the turn, and waiting costs nothing. */
const DATABASE_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '20 seconds',
  retry: RETRY,
};

/**
 * The check before a model call runs within the workflow task, as a local activity: one event of history instead of six, and no task of its
 * own. It takes milliseconds. At 4 s, 80 % of the timeout of a workflow task, Temporal would renew the task.
 */
const CHECK_OPTIONS: LocalActivityOptions = { startToCloseTimeout: '3 seconds', retry: { maximumAttempts: 1 } };

/** Tools: the claim in Postgres decides whether a retry may act. Each has its own time limit. */
const TOOL_OPTIONS: ActivityOptions = {
  ...DATABASE_OPTIONS,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/**
 * Model calls and summaries. The client ends a call after 30 minutes (`src/models/protocols/sdk-options.ts`). An hour more is for an
 * unreachable store.
 */
const MODEL_OPTIONS: ActivityOptions = { ...TOOL_OPTIONS, startToCloseTimeout: '90 minutes' };

/** For all hooks of a compaction together, in each of three attempts. */
const HOOKS_TIMEOUT = '10 minutes';

/** Each queue serves only its own activities, so an activity on the wrong queue would wait for ever. */
type WorkActivities = Pick<Activities, WorkActivity>;
type DatabaseActivities = Omit<Activities, WorkActivity>;

export type TurnActivities = ReturnType<typeof turnActivities>;

/** The activities for the workflow, on its own queue or the one that belongs to it. */
export function turnActivities() {
  const taskQueue = databaseTaskQueueFor(workflowInfo().taskQueue);
  // Summaries for the Temporal UI that depend on the call are set where the activity is called.
  const database = proxyActivities<DatabaseActivities>({ ...DATABASE_OPTIONS, taskQueue });
  const named = (summary: string) => proxyActivities<DatabaseActivities>({ ...DATABASE_OPTIONS, taskQueue, summary });
  const model = proxyActivities<WorkActivities>(MODEL_OPTIONS);
  const hooks = { ...MODEL_OPTIONS, summary: 'hooks', startToCloseTimeout: HOOKS_TIMEOUT };
  return {
    beginTurn: named('next turn').beginTurn,
    continueTurn: named('turn goes on in a new run').continueTurn,
    lookForStop: named('stop').lookForStop,
    readTimeLeft: named('time left').readTimeLeft,
    checkContext: proxyLocalActivities<DatabaseActivities>(CHECK_OPTIONS).compactContext,
    compactContext: database.compactContext,
    commitCompaction: database.commitCompaction,
    requestDecisions: named('open decisions').requestDecisions,
    endTurn: database.endTurn,
    askHooks: proxyActivities<WorkActivities>(hooks).askHooks,
    summarize: model.summarize,
    changeBranch: named('change of branch').changeBranch,
    callModel: model.callModel,
    runTool: proxyActivities<WorkActivities>(TOOL_OPTIONS).runTool,
  };
}
