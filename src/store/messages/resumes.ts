import { requireBranchKept } from '../conversations/branch-commands.ts';
import { missingRaises } from '../../turn/spending.ts';
import { raiseFlags } from '../../turn/explain-outcome.ts';
import { readActiveTask, readBranchTasks } from '../conversations/branches.ts';
import type { BranchTask } from '../conversations/branches.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import { readEndedTurn } from '../turns/turn-limits.ts';
import type { MessageInput } from './messages.ts';
import type { TurnReference } from '../../turn/turn-reference.ts';
import type { NewContent } from '../log/entries.ts';
import { insertEntry } from '../log/entry-writer.ts';
import { consumeCommands } from './commands.ts';

type Resume = Pick<MessageInput, 'id' | 'conversationId' | 'raise'>;

/**
 * Of a `resume` whose row is written: refuses one that would begin a turn that ends at once, or one beside a turn that runs. The
 * transaction holds the lock of its conversation, so nothing is sent and no turn begins until it commits.
 */
export async function requireMayResume(sql: Transaction, resume: Resume): Promise<void> {
  const { conversationId, raise = {} } = resume;
  await requireOnlyResume(sql, resume);
  await requireBranchKept(sql, conversationId);
  const [conversation] = await sql<{ activeTurnId: string | null }[]>`
    select active_turn_id from conversations where id = ${conversationId}`;
  if (conversation?.activeTurnId != null) throw turnRuns(conversationId);
  const task = await readActiveTask(sql, conversationId);
  if (task === null || task.isDone) throw await nothingOpen(sql, conversationId);
  const missing = missingRaises(await readEndedTurn(sql, task.turnId), raise);
  if (Object.keys(missing).length === 0) return;
  throw new StoreError(
    'limit_not_raised',
    `the turn ended ${endOfTask(task)}, and goes on only with more ${Object.keys(missing).join(' and ')}: the least that helps is "holdfast resume ${conversationId} ${raiseFlags({ ...raise, ...missing })}"`,
  );
}

/** Raises add up, and who sends a second one while no worker has taken the first rarely means both. */
async function requireOnlyResume(sql: Transaction, { id, conversationId }: Resume): Promise<void> {
  const [waiting] = await sql<{ id: string }[]>`
    select id from messages
    where conversation_id = ${conversationId} and kind = 'resume' and consumed_at is null and id <> ${id} limit 1`;
  if (waiting === undefined) return;
  throw new StoreError(
    'resume_waiting',
    `conversation ${conversationId} has a resume that waits for a worker, sent as "${waiting.id}"; a second one would raise the limits twice`,
  );
}

async function nothingOpen(sql: Queries, conversationId: string): Promise<StoreError> {
  const tasks = await readBranchTasks(sql, conversationId);
  const state = tasks.some(({ active }) => active)
    ? 'completed its last turn'
    : `has had no turn${tasks.length === 0 ? '' : ' on its branch'}`;
  const open = tasks.find(({ isDone }) => !isDone);
  const elsewhere =
    open === undefined
      ? ''
      : `; the turn of branch ${open.branch} is not done: "holdfast branch switch ${conversationId} ${open.branch}" goes back to it`;
  return new StoreError('nothing_to_resume', `conversation ${conversationId} ${state}${elsewhere}`);
}

function turnRuns(conversationId: string): StoreError {
  return new StoreError('conversation_busy', `conversation ${conversationId} has a turn that runs`);
}

/** How its turn ended, in words: "at cost_limit", "as stopped". */
function endOfTask({ outcome, reason }: Pick<BranchTask, 'outcome' | 'reason'>): string {
  return outcome === 'budget_exhausted' ? `at ${reason}` : `as ${outcome}`;
}

/**
 * Of the resumes that wait, those that a turn which begins is to take: all, or none when nothing of the task is left to go on with,
 * since a turn whose workflow is gone may still complete. Such a resume counts as served, as a stop of nothing does, and raises no limit.
 */
export async function resumesToTake(
  sql: Transaction,
  conversationId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return ids;
  const task = await readActiveTask(sql, conversationId);
  if (task !== null && !task.isDone) return ids;
  // The raises of a conversation are summed over its messages; one without this would count whole.
  await sql`
    update messages set conversation_raise = '{}'
    where conversation_id = ${conversationId} and id = any(${[...ids]}) and raise is not null`;
  await consumeCommands(sql, { conversationId, kind: 'resume', turnId: null, ids });
  return [];
}

export async function takeResumes(
  sql: Transaction,
  turn: TurnReference,
  { ids, note }: { readonly ids: readonly string[]; readonly note: NewContent },
): Promise<void> {
  if (ids.length === 0) return;
  const { conversationId, turnId } = turn;
  await insertEntry(sql, { ...note, kind: 'note', slot: 'continuation', turn, key: 'resumed' });
  await consumeCommands(sql, { conversationId, kind: 'resume', turnId, ids });
}
