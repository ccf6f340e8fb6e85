import { requireBranchKept } from '../store/branch-commands.ts';
import { readActiveTask, readBranchTasks } from '../store/branch-tasks.ts';
import type { BranchTask } from '../store/branch-tasks.ts';
import type { Database } from '../store/database.ts';
import { isMessageKnown } from '../store/messages.ts';
import { readEndedTurn } from '../store/turn-limits.ts';
import { COUNTED_OF_CONVERSATION, isDivisible, missingRaises } from '../turn/spending.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { describeConversation } from './conversation.ts';
import type { RungTemporal } from './doorbell.ts';
import { HoldfastClientError } from './errors.ts';
import { hasOpenWorkflow } from './lost-turn.ts';
import { raiseFlags } from './raise-flag.ts';

/**
 * Refuses what would begin a turn that ends at once, or one beside a turn that runs. What was sent before is sent once, also
 * when it has begun a turn meanwhile.
 * @returns the branch whose task was judged: the row is accepted only while the conversation goes on with it
 */
export async function requireResumable(
  database: Database,
  temporal: RungTemporal,
  resume: {
    readonly conversationId: string;
    readonly raise: Partial<ConversationCounts>;
    readonly messageId: string | undefined;
  },
): Promise<{ readonly onBranch?: number }> {
  const { conversationId, raise, messageId } = resume;
  if (messageId !== undefined && (await isMessageKnown(database, messageId))) return {};
  checkRaise(raise);
  const conversation = await describeConversation(database, conversationId);
  if (conversation.turn?.state === 'ended' || conversation.turn === null) {
    return { onBranch: await checkTask(database, conversationId, raise) };
  }
  if (await hasOpenWorkflow(temporal, conversationId)) throw turnRuns(conversationId);
  // Read after Temporal was asked: a turn that ended by itself meanwhile has its outcome, another one may have begun. A turn
  // that is still open has lost its workflow, and the one that resumes repairs the conversation.
  const later = await describeConversation(database, conversationId);
  if (later.turn?.state !== 'ended' && later.turn?.turnId !== conversation.turn.turnId) throw turnRuns(conversationId);
  return { onBranch: await checkTask(database, conversationId, raise) };
}

function checkRaise(raise: Partial<ConversationCounts>): void {
  for (const [name, by] of Object.entries(raise)) {
    const known = COUNTED_OF_CONVERSATION.find((counted) => counted === name);
    if (known === undefined || !Number.isFinite(by) || by <= 0) {
      throw new HoldfastClientError(
        'invalid_argument',
        `a raise of ${name} by ${by} is not possible: raise ${COUNTED_OF_CONVERSATION.join(', ')} by more than 0`,
      );
    }
    if (!isDivisible(known) && !Number.isInteger(by)) {
      throw new HoldfastClientError(
        'invalid_argument',
        `a raise of ${name} by ${by} is not possible: they are counted in whole numbers`,
      );
    }
  }
}

/** Of the branch that the conversation goes on with: what ended on another one is no task of this. */
async function checkTask(
  database: Database,
  conversationId: string,
  raise: Partial<ConversationCounts>,
): Promise<number> {
  await requireBranchKept(database, conversationId);
  const task = await readActiveTask(database, conversationId);
  if (task === null || task.isDone) throw nothingOpen(conversationId, await readBranchTasks(database, conversationId));
  // It has lost its workflow, and is judged when the turn that resumes has ended it.
  if (task.outcome === null) return task.branch;
  const missing = missingRaises(await readEndedTurn(database, task.turnId), raise);
  if (Object.keys(missing).length === 0) return task.branch;
  const end = task.outcome === 'budget_exhausted' ? `at ${task.reason}` : `as ${task.outcome}`;
  throw new HoldfastClientError(
    'limit_not_raised',
    `the turn ended ${end}, and goes on only with more ${Object.keys(missing).join(' and ')}: the least that helps is "holdfast resume ${conversationId} ${raiseFlags({ ...raise, ...missing })}"`,
  );
}

function nothingOpen(conversationId: string, tasks: readonly BranchTask[]): HoldfastClientError {
  const state = tasks.some(({ active }) => active)
    ? 'completed its last turn'
    : `has had no turn${tasks.length === 0 ? '' : ' on its branch'}`;
  const open = tasks.find(({ isDone }) => !isDone);
  const elsewhere =
    open === undefined
      ? ''
      : `; the turn of branch ${open.branch} is not done: "holdfast switch ${conversationId} ${open.branch}" goes back to it`;
  return new HoldfastClientError('nothing_to_resume', `conversation ${conversationId} ${state}${elsewhere}`);
}

function turnRuns(conversationId: string): HoldfastClientError {
  return new HoldfastClientError(
    'nothing_to_resume',
    `conversation ${conversationId} has a turn that runs: wait for its end, or stop it first`,
  );
}
