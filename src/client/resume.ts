import { endOfTask, nothingOpen, turnRuns } from '../store/messages/accept-resume.ts';
import type { JudgedResume } from '../store/messages/accept-resume.ts';
import { requireBranchKept } from '../store/conversations/branch-commands.ts';
import { readActiveTask } from '../store/conversations/branch-tasks.ts';
import type { Database } from '../store/database/database.ts';
import { isMessageKnown } from '../store/messages/messages.ts';
import { readEndedTurn } from '../store/turns/turn-limits.ts';
import { COUNTED_OF_CONVERSATION, isDivisible, missingRaises } from '../turn/spending.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { describeConversation } from './conversation.ts';
import type { RungTemporal } from './doorbell.ts';
import { HoldfastClientError } from './errors.ts';
import { hasOpenWorkflow } from './lost-turn.ts';
import { raiseFlags } from '../turn/raise-flag.ts';

/**
 * Refuses what would begin a turn that ends at once, or one beside a turn that runs. What was sent before is sent once, also
 * when it has begun a turn meanwhile.
 * @returns the task that was judged: the row is accepted only while the conversation stands there
 */
export async function requireResumable(
  database: Database,
  temporal: RungTemporal,
  resume: {
    readonly conversationId: string;
    readonly raise: Partial<ConversationCounts>;
    readonly messageId: string | undefined;
  },
): Promise<JudgedResume> {
  const { conversationId, raise, messageId } = resume;
  const wasSent = async (): Promise<boolean> =>
    messageId !== undefined && (await isMessageKnown(database, { conversationId, id: messageId }));
  if (await wasSent()) return {};
  checkRaise(raise);
  try {
    return await judge(database, temporal, { conversationId, raise });
  } catch (error) {
    // Sent twice at once, the turn that speaks against it may be its own.
    if (await wasSent()) return {};
    throw error;
  }
}

async function judge(database: Database, temporal: RungTemporal, resume: Asked): Promise<JudgedResume> {
  const { conversationId } = resume;
  const { turn } = await describeConversation(database, conversationId);
  if (turn === null || turn.state === 'ended') return checkTask(database, resume, null);
  if (await hasOpenWorkflow(temporal, conversationId)) throw turnRuns(conversationId);
  // Read after Temporal was asked: a turn that ended by itself meanwhile has its outcome, another one may have begun. A turn
  // that is still open has lost its workflow, and the one that resumes repairs the conversation.
  const { turn: later } = await describeConversation(database, conversationId);
  if (later?.state === 'ended') return checkTask(database, resume, null);
  if (later?.turnId !== turn.turnId) throw turnRuns(conversationId);
  return { ...(await checkTask(database, resume, turn.turnId)), lostTurnId: turn.turnId };
}

interface Asked {
  readonly conversationId: string;
  readonly raise: Partial<ConversationCounts>;
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
  { conversationId, raise }: Asked,
  lostTurnId: string | null,
): Promise<JudgedResume> {
  await requireBranchKept(database, conversationId);
  const task = await readActiveTask(database, conversationId);
  if (task === null || task.isDone) throw await nothingOpen(database, conversationId);
  const judged = { onBranch: task.branch, onTask: task.turnId };
  if (task.outcome === null) {
    // It has begun since the conversation was looked at.
    if (task.turnId !== lostTurnId) throw turnRuns(conversationId);
    // It is judged when the turn that resumes has ended it.
    return judged;
  }
  const missing = missingRaises(await readEndedTurn(database, task.turnId), raise);
  if (Object.keys(missing).length === 0) return judged;
  throw new HoldfastClientError(
    'limit_not_raised',
    `the turn ended ${endOfTask(task)}, and goes on only with more ${Object.keys(missing).join(' and ')}: the least that helps is "holdfast resume ${conversationId} ${raiseFlags({ ...raise, ...missing })}"`,
  );
}
