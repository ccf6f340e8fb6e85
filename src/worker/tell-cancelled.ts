import type { Logger } from 'pino';
import { describeError } from '../activities/runtime/activity-error.ts';
import type { Database } from '../store/database/database.ts';
import { markCancelled } from '../store/turns/cancelled-work.ts';
import { conversationIdOf } from '../turn/workflow-id.ts';
import type { TurnWorkerOptions } from './create-turn-workers.ts';

/** Tells running work of all workers that its activity is cancelled. Where Postgres is away, it learns that from its heartbeats. */
export function tellCancelled(database: Database, logger: Logger): NonNullable<TurnWorkerOptions['cancelled']> {
  return async ({ workflowId, runId, activityId }) => {
    try {
      await markCancelled(database, { conversationId: conversationIdOf(workflowId), runId, activityId });
    } catch (error) {
      logger.warn({ workflowId, ...describeError(error) }, 'running work was not told that it is cancelled');
    }
  };
}
