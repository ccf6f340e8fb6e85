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
import { consumeCommands } from './waiting.ts';

type Resume = Pick<MessageInput, 'id' | 'conversationId' | 'raise'>;

/**
 * Of a `resume` whose row is written: refuses one that would begin a turn that ends at once, or one beside a turn that runs. The
 * transaction holds the lock of its conversation, so nothing is sent and no turn begins until it commits.
 */
export async function requireMayResume(sql: Transaction, resume: Resume): Promise<void> {
  const { conversationId, raise = {} } = resume;
  await requireNothingElse(sql, resume);
  const task = await readActiveTask(sql, conversationId);
  if (task === null || task.isDone) throw await nothingOpen(sql, conversationId);
  const missing = missingRaises(await readEndedTurn(sql, task.turnId), raise);
  if (Object.keys(missing).length === 0) return;
  throw new StoreError(
    'limit_not_raised',
    `the turn ended ${endOfTask(task)}, and goes on only with more ${Object.keys(missing).join(' and ')}: the least that helps is "holdfast resume ${conversationId} ${raiseFlags({ ...raise, ...missing })}"`,
  );
}

/** What a resume goes on with is known once nothing else is under way. Two that wait would add up their raises, which is rarely meant. */
async function requireNothingElse(sql: Transaction, { id, conversationId }: Resume): Promise<void> {
  const [row] = await sql<{ resume: string | null; changesBranch: boolean; activeTurnId: string | null }[]>`
    select c.active_turn_id, min(m.id) filter (where m.kind = 'resume') as resume,
      coalesce(bool_or(m.kind in ('fork', 'switch')), false) as changes_branch
    from conversations c left join messages m on m.conversation_id = c.id and m.consumed_at is null and m.id <> ${id}
    where c.id = ${conversationId} group by c.id`;
  const { resume = null, changesBranch = false, activeTurnId = null } = row ?? {};
  if (resume !== null)
    throw new StoreError(
      'resume_waiting',
      `conversation ${conversationId} has a resume that waits for a worker, sent as "${resume}"; a second one would raise the limits twice`,
    );
  if (!changesBranch && activeTurnId === null) return;
  const what = changesBranch
    ? 'changes its branch: what a resume goes on with is known once that is done'
    : 'has a turn that runs';
  throw new StoreError('conversation_busy', `conversation ${conversationId} ${what}`);
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
