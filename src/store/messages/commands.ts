import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Transaction } from '../database/database.ts';
import { writeAsTurn } from '../database/transaction.ts';

export interface ServedCommands {
  readonly conversationId: string;
  readonly kind: 'stop' | 'compact' | 'resume';
  /** `null`: nothing was there to serve them. */
  readonly turnId: string | null;
  /** Those that were read: what was sent since waits on. Default: all that wait. */
  readonly ids?: readonly string[];
}

export async function consumeCommands(
  sql: Transaction,
  { conversationId, kind, turnId, ids }: ServedCommands,
): Promise<number> {
  const { count } = await sql`
    update messages set turn_id = ${turnId}, consumed_at = holdfast_now()
    where conversation_id = ${conversationId} and kind = ${kind} and consumed_at is null
      ${ids === undefined ? sql`` : sql`and id = any(${[...ids]})`}`;
  return count;
}

/** Why a request to compact is declined; `stopped` is told with a stop. `irreducible`: what fills the window may not be compacted. */
export type DeclineReason = 'nothing_to_compact' | 'irreducible' | 'cancelled_by_hook';

/**
 * The requested compaction has nothing to do: the requests count as served, and the timeline says why. Repeating it
 * writes nothing.
 * @param requests those that were read when it was decided: one that was sent since is for the next check. Default: all that wait
 * @param tokens of the view
 */
export async function declineCompaction(
  sql: Database,
  turn: TurnReference,
  {
    requests,
    reason,
    tokens,
  }: { readonly requests?: readonly string[]; readonly reason: DeclineReason; readonly tokens: number },
): Promise<void> {
  const { conversationId, turnId } = turn;
  await writeAsTurn(sql, turn, async (writer) => {
    const served = {
      conversationId,
      kind: 'compact',
      turnId,
      ...(requests !== undefined && { ids: requests }),
    } as const;
    const declined = await consumeCommands(writer.sql, served);
    if (declined > 0) await writer.event('compaction_declined', { reason, tokens });
  });
}
