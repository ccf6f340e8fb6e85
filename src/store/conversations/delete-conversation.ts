import type { Database, Fragment, Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { isId } from '../database/ids.ts';
import { IMPORTER } from '../../turn/temporal-names.ts';
import { transaction } from '../database/transaction.ts';

export interface WorkflowRun {
  readonly workflowId: string;
  readonly runId: string;
}

export interface DeletedConversation {
  readonly runs: readonly WorkflowRun[];
  /** Whether something was sent, so that Temporal may know a run of it although no turn tells of one. */
  readonly isRungFor: boolean;
}

/**
 * Removes a conversation for good: entries, originals, summaries, events, its part of the search index, and the
 * memories that were learned in it. The database's own function does it, the only way past the append-only log.
 *
 * @param idleSince only when it is kept since this time, as `keptSinceOf` says it, and no message waits. Default: whatever waits.
 * @returns the workflow runs whose histories Temporal keeps; they hold ids and counts
 * @throws StoreError `conversation_not_found`, `conversation_busy` while a turn is open, or when it is no longer idle since then
 */
export async function deleteConversation(
  sql: Database,
  conversationId: string,
  idleSince?: string,
): Promise<DeletedConversation> {
  return transaction(sql, async (open) => {
    const [row] = isId(conversationId)
      ? await open`select from conversations where id = ${conversationId} for update`
      : [];
    if (row === undefined) {
      throw new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
    }
    if (idleSince !== undefined) await requireIdleSince(open, conversationId, idleSince);
    const isRungFor = await wasRungFor(open, conversationId);
    // Of an imported turn there never was a workflow. A large conversation takes longer than any other statement.
    const runs = await open<WorkflowRun[]>`
      select workflow_id, run_id from delete_conversation(${conversationId})
      where workflow_id not like ${`${IMPORTER}:%`}`.patient();
    return { runs, isRungFor };
  });
}

/** Whoever sends rings: a message of which no turn tells may have begun a run all the same. */
async function wasRungFor(open: Transaction, conversationId: string): Promise<boolean> {
  const [row] = await open<{ rung: boolean }[]>`
    select exists (select from messages m left join turns t on t.id = m.turn_id
      where m.conversation_id = ${conversationId} and coalesce(t.workflow_id, '') not like ${`${IMPORTER}:%`}) as rung`;
  return row?.rung === true;
}

/** Since when retention counts, of `conversations c`: the last activity, or the import when nothing happened since. */
export function keptSinceOf(sql: Queries): Fragment {
  return sql`greatest(c.active_at, c.imported_at)`;
}

/** Under the lock of its row: messages that are being accepted wait for it, and find no conversation then. */
async function requireIdleSince(open: Transaction, conversationId: string, idleSince: string): Promise<void> {
  const [row] = await open`
    select from conversations c where c.id = ${conversationId} and ${keptSinceOf(open)} = ${idleSince}::text::timestamptz
      and not exists (select from messages m where m.conversation_id = c.id and m.consumed_at is null)`;
  if (row !== undefined) return;
  throw new StoreError('conversation_busy', `conversation ${conversationId} was active again, or a message waits`);
}
