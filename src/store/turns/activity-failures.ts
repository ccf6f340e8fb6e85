import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Queries } from '../database/database.ts';
import { writeEvents } from '../database/transaction.ts';

/** Failures of one activity of which the timeline tells. */
const TOLD_FAILURES = 3;

interface CountedActivity {
  readonly conversationId: string;
  readonly runId: string;
  readonly activityId: string;
}

export interface ActivityFailed extends CountedActivity {
  /** `null`: it has not begun. */
  readonly turn: TurnReference | null;
  readonly activity: string;
  readonly code: string;
}

/**
 * Counts a failure until the conversation's next turn begins.
 * @returns failures of this activity so far
 */
export async function countActivityFailure(sql: Database, failed: ActivityFailed): Promise<number> {
  const { conversationId, turn, activity, code } = failed;
  return writeEvents(sql, conversationId, async ({ sql: open, event }) => {
    const { count, epoch } = await countUp(open, failed, '');
    const data = { activity, code, failures: count };
    if (count === TOLD_FAILURES) await event(turn ?? { conversationId, turnId: null, epoch }, 'activity_failing', data);
    return count;
  });
}

/**
 * Counts an asking of the hooks until the conversation's next turn begins. Temporal's number of the attempt counts outages and hand-overs too.
 * @returns askings by this activity so far
 */
export async function countHooksAsked(sql: Database, asking: CountedActivity): Promise<number> {
  const { count } = await countUp(sql, asking, ' asked');
  return count;
}

async function countUp(
  sql: Queries,
  { conversationId, runId, activityId }: CountedActivity,
  what: string,
): Promise<{ readonly count: number; readonly epoch: number }> {
  const key = `${runId} ${activityId}${what}`;
  const [row] = await sql<{ count: number; epoch: number }[]>`
    update conversations
    set failures = failures || jsonb_build_object(${key}::text, coalesce((failures ->> ${key})::int, 0) + 1)
    where id = ${conversationId} returning (failures ->> ${key})::int as count, epoch`;
  return row ?? { count: 1, epoch: 0 };
}
