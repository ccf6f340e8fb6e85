import type { Database } from '../store/database.ts';
import { isMessageKnown } from '../store/messages.ts';
import { readEndedTurn } from '../store/turn-limits.ts';
import { readLastTaskTurn } from '../store/turns.ts';
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
 */
export async function requireResumable(
  database: Database,
  temporal: RungTemporal,
  resume: {
    readonly conversationId: string;
    readonly raise: Partial<ConversationCounts>;
    readonly messageId: string | undefined;
  },
): Promise<void> {
  const { conversationId, raise, messageId } = resume;
  if (messageId !== undefined && (await isMessageKnown(database, messageId))) return;
  checkRaise(raise);
  const conversation = await describeConversation(database, conversationId);
  if (conversation.turn?.state === 'ended' || conversation.turn === null) {
    await checkLastTurn(database, conversationId, raise);
    return;
  }
  if (await hasOpenWorkflow(temporal, conversationId)) throw turnRuns(conversationId);
  // Read after Temporal was asked: a turn that ended by itself meanwhile has its outcome, another one may have begun. A turn
  // that is still open has lost its workflow, and the one that resumes repairs the conversation.
  const later = await describeConversation(database, conversationId);
  if (later.turn?.state === 'ended') await checkLastTurn(database, conversationId, raise);
  else if (later.turn?.turnId !== conversation.turn.turnId) throw turnRuns(conversationId);
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

/** Of a task: a compaction or a change of branch after it is none. */
async function checkLastTurn(
  database: Database,
  conversationId: string,
  raise: Partial<ConversationCounts>,
): Promise<void> {
  const turn = await readLastTaskTurn(database, conversationId);
  // An answer that was cut once too often is not what the task asked for, though nothing failed.
  const wasCut = turn?.outcome === 'completed' && turn.reason === 'answer_cut';
  if (turn === null || (turn.outcome === 'completed' && !wasCut)) {
    const state = turn === null ? 'has had no turn' : 'completed its last turn';
    throw new HoldfastClientError('nothing_to_resume', `conversation ${conversationId} ${state}`);
  }
  const ended = await readEndedTurn(database, conversationId);
  const missing = ended === null ? {} : missingRaises(ended, raise);
  if (Object.keys(missing).length === 0) return;
  const end = turn.outcome === 'budget_exhausted' ? `at ${turn.reason}` : `as ${turn.outcome}`;
  throw new HoldfastClientError(
    'limit_not_raised',
    `the turn ended ${end}, and goes on only with more ${Object.keys(missing).join(' and ')}: the least that helps is "holdfast resume ${conversationId} ${raiseFlags({ ...raise, ...missing })}"`,
  );
}

function turnRuns(conversationId: string): HoldfastClientError {
  return new HoldfastClientError(
    'nothing_to_resume',
    `conversation ${conversationId} has a turn that runs: wait for its end, or stop it first`,
  );
}
