import type { TurnReference } from '../../turn/turn-reference.ts';
import { StoreError } from '../database/errors.ts';
import type { Transaction } from '../database/database.ts';

export interface CallBoundary {
  /** Of the model call that will see it first. */
  readonly callNumber: number;
  readonly runId: string;
}

/**
 * Whether something may still be appended that stands before a model call. Once the call is registered its request is made: an
 * entry behind the head that it shows would cost its answer. Once a compaction is planned before it, that holds for the head alone.
 * `false`: there is such a plan, or another run registered the call, so this run repeats what was done (after a reset), or has a
 * successor; what waits is left to the steps that follow. Asked with the conversation locked.
 * @throws StoreError `call_registered`: this run registered it, and the attempt that appends is one that Temporal has replaced
 */
export async function mayStandBefore(
  sql: Transaction,
  { conversationId, turnId }: TurnReference,
  { callNumber, runId }: CallBoundary,
): Promise<boolean> {
  const [row] = await sql<{ callNumber: number | null; own: boolean | null; isPlanned: boolean }[]>`
    select max(call_number) as call_number, bool_or((registered_by).run_id = ${runId}) as own, exists (
        -- One under which something was appended is given up, whatever comes after it.
        select from compactions p join conversations c on c.id = p.conversation_id and c.head_entry_id = p.head_entry_id
        where p.conversation_id = ${conversationId} and p.status = 'planned'
          and p.turn_id = ${turnId} and p.call_number >= ${callNumber}) as is_planned
    from model_attempts where conversation_id = ${conversationId} and turn_id = ${turnId} and purpose = 'step' and call_number >= ${callNumber}`;
  const newest = row?.callNumber ?? null;
  if (newest === null) return row?.isPlanned !== true;
  if (row?.own !== true) return false;
  throw new StoreError(
    'call_registered',
    `call ${newest} of turn ${turnId} is registered; what stands before call ${callNumber} comes too late`,
  );
}
