import { requireBranchKept } from './branch-commands.ts';
import type { Transaction } from './database.ts';
import { StoreError } from './errors.ts';

/** Of a `resume` whose row is written; the transaction holds the lock of its branch, so no change of branch is sent until it commits. */
export async function requireMayResume(
  sql: Transaction,
  resume: { readonly id: string; readonly conversationId: string; readonly onBranch?: number },
): Promise<void> {
  await requireOnlyResume(sql, resume);
  await requireBranchKept(sql, resume.conversationId, resume.onBranch);
}

/** Raises add up, and who sends a second one while no worker has taken the first rarely means both. */
async function requireOnlyResume(
  sql: Transaction,
  { id, conversationId }: { readonly id: string; readonly conversationId: string },
): Promise<void> {
  // Of two that are sent at once, the second looks when the first is committed.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`resume ${conversationId}`}, 0))`;
  const [waiting] = await sql<{ id: string }[]>`
    select id from messages
    where conversation_id = ${conversationId} and kind = 'resume' and consumed_at is null and id <> ${id} limit 1`;
  if (waiting === undefined) return;
  throw new StoreError(
    'resume_waiting',
    `conversation ${conversationId} has a resume that waits for a worker, sent as "${waiting.id}"; a second one would raise the limits twice`,
  );
}
