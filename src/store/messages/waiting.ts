import type { TurnReference } from '../../turn/turn-reference.ts';
import type { Database, Transaction, Queries } from '../database/database.ts';
import { writeAsTurn } from '../database/transaction.ts';
import { StoreError } from '../database/errors.ts';

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

/** Whether a stop waits. It does until the turn ends. */
export async function isStopWaiting(sql: Queries, turn: TurnReference): Promise<boolean> {
  const [row] = await sql<{ epoch: number; stops: boolean }[]>`
    select epoch, exists (
      select from messages m where m.conversation_id = c.id and m.consumed_at is null and m.kind = 'stop') as stops
    from conversations c where id = ${turn.conversationId}`;
  if (row?.epoch !== turn.epoch) throw staleEpoch(turn, row?.epoch);
  return row.stops;
}

export interface Waiting {
  readonly isAny: boolean;
  readonly isStopped: boolean;
  readonly isSteered: boolean;
}

export async function readWaiting(sql: Queries, conversationId: string): Promise<Waiting> {
  const [row] = await sql<Waiting[]>`
    select count(*) > 0 as is_any, coalesce(bool_or(kind = 'stop'), false) as is_stopped,
      coalesce(bool_or(kind = 'message' and mode = 'steer'), false) as is_steered
    from messages where conversation_id = ${conversationId} and consumed_at is null`;
  return row ?? { isAny: false, isStopped: false, isSteered: false };
}

export function staleEpoch(turn: TurnReference, epoch: number | undefined): StoreError {
  return new StoreError(
    'stale_epoch',
    `conversation ${turn.conversationId} is at epoch ${epoch ?? 'unknown'}; turn ${turn.turnId} of epoch ${turn.epoch} was replaced`,
  );
}
