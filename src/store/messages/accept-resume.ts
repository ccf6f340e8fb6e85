import { requireBranchKept } from '../conversations/branch-commands.ts';
import { readActiveTask, readBranchTasks } from '../conversations/branch-tasks.ts';
import type { BranchTask } from '../conversations/branch-tasks.ts';
import type { Queries, Transaction } from '../database/database.ts';
import { StoreError } from '../database/errors.ts';
import type { MessageInput } from './messages.ts';

/** What the sender of a `resume` found before he sent it. */
export type JudgedResume = Pick<MessageInput, 'onBranch' | 'onTask' | 'lostTurnId'>;

/** Of a `resume` whose row is written; the transaction holds the lock of its conversation, so nothing is sent and no turn begins until it commits. */
export async function requireMayResume(
  sql: Transaction,
  resume: Pick<MessageInput, 'id' | 'conversationId'> & JudgedResume,
): Promise<void> {
  await requireOnlyResume(sql, resume);
  await requireBranchKept(sql, resume.conversationId, resume.onBranch);
  await requireTaskKept(sql, resume);
}

/** Raises add up, and who sends a second one while no worker has taken the first rarely means both. */
async function requireOnlyResume(
  sql: Transaction,
  { id, conversationId }: { readonly id: string; readonly conversationId: string },
): Promise<void> {
  const [waiting] = await sql<{ id: string }[]>`
    select id from messages
    where conversation_id = ${conversationId} and kind = 'resume' and consumed_at is null and id <> ${id} limit 1`;
  if (waiting === undefined) return;
  throw new StoreError(
    'resume_waiting',
    `conversation ${conversationId} has a resume that waits for a worker, sent as "${waiting.id}"; a second one would raise the limits twice`,
  );
}

/**
 * Between its sender's look and its row another resume or a message may have begun a turn: behind that one it would go on with what
 * nobody judged, also with a task that is done, and its raise would count once more.
 */
async function requireTaskKept(
  sql: Transaction,
  { conversationId, onTask, lostTurnId }: Pick<MessageInput, 'conversationId'> & JudgedResume,
): Promise<void> {
  if (onTask === undefined) return;
  const [conversation] = await sql<{ active_turn_id: string | null }[]>`
    select active_turn_id from conversations where id = ${conversationId}`;
  const open = conversation?.active_turn_id ?? null;
  if (open !== null && open !== lostTurnId) throw turnRuns(conversationId);
  const task = await readActiveTask(sql, conversationId);
  if (task === null || task.isDone) throw await nothingOpen(sql, conversationId);
  if (task.turnId !== onTask) throw wentOn(conversationId, task);
}

/** The refusal where no task of the branch is open; names the branch that has one. */
export async function nothingOpen(sql: Queries, conversationId: string): Promise<StoreError> {
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

export function turnRuns(conversationId: string): StoreError {
  return new StoreError(
    'nothing_to_resume',
    `conversation ${conversationId} has a turn that runs: wait for its end, or stop it first`,
  );
}

function wentOn(conversationId: string, task: BranchTask): StoreError {
  return new StoreError(
    'nothing_to_resume',
    `conversation ${conversationId} has gone on meanwhile, in a turn that ended ${endOfTask(task)}: send the resume again if it is to go on with that one`,
  );
}

/** How its turn ended, in words: "at cost_limit", "as stopped". */
export function endOfTask({ outcome, reason }: Pick<BranchTask, 'outcome' | 'reason'>): string {
  return outcome === 'budget_exhausted' ? `at ${reason}` : `as ${outcome}`;
}
