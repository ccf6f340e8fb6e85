import type { Database } from './database.ts';
import { StoreError } from './errors.ts';
import { isId } from './ids.ts';
import { IMPORTER } from './import-conversation.ts';
import { transaction } from './transaction.ts';

/** A run whose history Temporal still keeps. */
export interface WorkflowRun {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Removes a conversation for good: entries, originals, summaries, events, its part of the search index, and the
 * memories that were learned in it. The database's own function does it, the only way past the append-only log.
 *
 * @returns the workflow runs of its turns; Temporal keeps their histories, which hold ids and counts
 * @throws StoreError `conversation_not_found`, `conversation_busy` while a turn is open
 */
export async function deleteConversation(sql: Database, conversationId: string): Promise<readonly WorkflowRun[]> {
  return transaction(sql, async (open) => {
    const [row] = isId(conversationId)
      ? await open`select from conversations where id = ${conversationId} for update`
      : [];
    if (row === undefined) {
      throw new StoreError('conversation_not_found', `there is no conversation ${conversationId}`);
    }
    // Of an imported turn there never was a workflow.
    const runs = await open<{ workflow_id: string; run_id: string }[]>`
      select workflow_id, run_id from delete_conversation(${conversationId})
      where workflow_id not like ${`${IMPORTER}:%`}`;
    return runs.map((run) => ({ workflowId: run.workflow_id, runId: run.run_id }));
  });
}
