import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database } from '../database/database.ts';
import { writeEvents } from '../database/transaction.ts';

/** Failures of one activity of which the timeline tells. */
const TOLD_FAILURES = 3;

export interface ActivityFailed {
  readonly conversationId: string;
  readonly turn: TurnReference | null;
  readonly activity: string;
  readonly runId: string;
  readonly activityId: string;
  readonly code: string;
}

/**
 * Counts a failure until the conversation's next turn begins.
 * @returns failures of this activity so far
 */
export async function countActivityFailure(sql: Database, failed: ActivityFailed): Promise<number> {
  const { conversationId, turn, activity, runId, activityId, code } = failed;
  const key = `${runId} ${activityId}`;
  return writeEvents(sql, conversationId, async ({ sql: open, writer }) => {
    const [row] = await open<{ failures: number }[]>`
      update conversations
      set failures = failures || jsonb_build_object(${key}::text, coalesce((failures ->> ${key})::int, 0) + 1)
      where id = ${conversationId} returning (failures ->> ${key})::int as failures`;
    const failures = row?.failures ?? 1;
    if (failures === TOLD_FAILURES && turn !== null) {
      await writer(turn).event('activity_failing', { activity, code, failures });
    }
    return failures;
  });
}
