import type { TurnReference } from '../../turn/turn-reference.ts';
import type { PaidCall } from '../attempts/attempts.ts';
import type { ToolCallReference } from '../attempts/tool-call-rows.ts';
import type { Database } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';

/** Work that goes on for a while outside the database, in the name of an attempt that a newer one may replace. */
export type FencedWork = (PaidCall | ({ readonly purpose: 'tool_call' } & ToolCallReference)) & {
  readonly attempt: number;
};

/** An activity of a turn, which Temporal may cancel. Its id is unique in the run, and counted up. */
export interface CancellableWork {
  readonly purpose: 'activity';
  readonly turn: TurnReference;
  readonly runId: string;
  readonly activityId: number;
}

/**
 * Why each of these works must end, in their order: what the database would refuse to its writer now, or its cancellation; `null` for
 * those that may go on. One query whatever their number, by primary keys.
 */
export async function findEnded(
  sql: Database,
  works: readonly (FencedWork | CancellableWork)[],
): Promise<(StoreError | 'cancelled' | null)[]> {
  if (works.length === 0) return [];
  const addresses = works.map(addressOf);
  const rows = await sql<{ place: number; epoch: number; ended: boolean }[]>`
    select w.place, c.epoch, case w.purpose
        when 'activity' then exists (select 1 from turns t
          where t.id = w.id and t.run_id = w.run_id and t.cancelled_through >= w.number)
        when 'tool_call' then exists (select 1 from tool_calls t
          where t.conversation_id = w.conversation_id and t.turn_id = w.id and t.call_number = w.number and t.call_index = w.index and t.attempt > w.attempt)
        when 'summary_part' then exists (select 1 from model_attempts m
          where m.conversation_id = w.conversation_id and m.purpose = w.purpose and m.compaction_id = w.id and m.part = w.number and m.attempt > w.attempt)
        else exists (select 1 from model_attempts m
          where m.conversation_id = w.conversation_id and m.turn_id = w.id and m.call_number = w.number and m.purpose = w.purpose
            and (m.attempt > w.attempt or (m.attempt = w.attempt and m.state = 'failed')))
      end as ended
    from unnest(
      ${works.map((_, place) => place)}::int[], ${works.map(({ turn }) => turn.conversationId)}::uuid[],
      ${works.map(({ purpose }) => purpose)}::text[], ${addresses.map(({ id }) => id)}::uuid[],
      ${addresses.map(({ number }) => number)}::int[], ${addresses.map(({ index }) => index)}::int[],
      ${works.map((work) => ('attempt' in work ? work.attempt : 0))}::int[],
      ${works.map((work) => ('runId' in work ? work.runId : ''))}::text[])
      as w (place, conversation_id, purpose, id, number, index, attempt, run_id)
    join conversations c on c.id = w.conversation_id`;
  const found = new Map(rows.map((row) => [row.place, row]));
  return works.map((work, place) => {
    const row = found.get(place);
    if (work.purpose === 'activity') return row?.ended === true ? 'cancelled' : null;
    return refusalOf(work, row);
  });
}

function refusalOf(
  { turn, purpose, attempt }: FencedWork,
  row: { readonly epoch: number; readonly ended: boolean } | undefined,
): StoreError | null {
  const { conversationId, turnId, epoch } = turn;
  if (row === undefined || row.epoch !== epoch) {
    const now = row === undefined ? 'gone' : `at epoch ${row.epoch}`;
    return new StoreError(
      'stale_epoch',
      `conversation ${conversationId} is ${now}; a writer of epoch ${epoch} was replaced`,
    );
  }
  if (!row.ended) return null;
  return new StoreError(
    'superseded_attempt',
    `attempt ${attempt} of a ${purpose} of turn ${turnId} was replaced by a newer one`,
  );
}

function addressOf(work: FencedWork | CancellableWork) {
  switch (work.purpose) {
    case 'activity':
      return { id: work.turn.turnId, number: work.activityId, index: 0 };
    case 'step':
      return { id: work.turn.turnId, number: work.callNumber, index: 0 };
    case 'tool_call':
      return { id: work.turn.turnId, number: work.callNumber, index: work.callIndex };
    case 'summary_part':
      return { id: work.compactionId, number: work.part, index: 0 };
  }
}

/** NOTIFY channel of workers: running work was cancelled. */
export const WORK_CHANNEL = 'holdfast_work';

/** Cancels what the run has scheduled of its turn up to this activity, and wakes the workers. What comes later is not meant. */
export async function markCancelled(
  sql: Database,
  { workflowId, runId, activityId }: Pick<CancellableWork, 'runId' | 'activityId'> & { readonly workflowId: string },
): Promise<void> {
  await sql`
    with marked as (
      update turns set cancelled_through = greatest(cancelled_through, ${activityId})
      where workflow_id = ${workflowId} and outcome is null and run_id = ${runId} returning id)
    select pg_notify(${WORK_CHANNEL}, '') from marked`;
}
