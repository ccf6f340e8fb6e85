import type { Database } from '../store/database.ts';
import { isMessageKnown } from '../store/messages.ts';
import { COUNTED_OF_CONVERSATION, countedOf } from '../turn/spending.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { describeConversation } from './conversation.ts';
import type { RungTemporal } from './doorbell.ts';
import { HoldfastClientError } from './errors.ts';
import { hasOpenWorkflow } from './lost-turn.ts';
import { raiseFlag } from './raise-flag.ts';
import type { Conversation } from './types.ts';

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
    checkLastTurn(conversation, raise);
    return;
  }
  if (await hasOpenWorkflow(temporal, conversationId)) throw turnRuns(conversationId);
  // Read after Temporal was asked: a turn that ended by itself meanwhile has its outcome, another one may have begun. A turn
  // that is still open has lost its workflow, and the one that resumes repairs the conversation.
  const later = await describeConversation(database, conversationId);
  if (later.turn?.state === 'ended') checkLastTurn(later, raise);
  else if (later.turn?.turnId !== conversation.turn.turnId) throw turnRuns(conversationId);
}

function checkRaise(raise: Partial<ConversationCounts>): void {
  for (const [name, by] of Object.entries(raise)) {
    const isKnown = COUNTED_OF_CONVERSATION.some((counted) => counted === name);
    if (!isKnown || !Number.isFinite(by) || by <= 0) {
      throw new HoldfastClientError(
        'invalid_argument',
        `a raise of ${name} by ${by} is not possible: raise ${COUNTED_OF_CONVERSATION.join(', ')} by more than 0`,
      );
    }
  }
}

function checkLastTurn({ conversationId, turn }: Conversation, raise: Partial<ConversationCounts>): void {
  // An answer that was cut once too often is not what the task asked for, though nothing failed.
  const wasCut = turn?.outcome === 'completed' && turn.reason === 'answer_cut';
  if (turn === null || (turn.outcome === 'completed' && !wasCut)) {
    const state = turn === null ? 'has had no turn' : 'completed its last turn';
    throw new HoldfastClientError('nothing_to_resume', `conversation ${conversationId} ${state}`);
  }
  const reached = turn.outcome === 'budget_exhausted' ? countedOf(turn.reason ?? '') : null;
  if (reached !== null && raise[reached] === undefined) {
    throw new HoldfastClientError(
      'limit_not_raised',
      `the turn ended at ${turn.reason ?? 'a limit'}: say by how much to raise ${reached}, as in "holdfast resume ${conversationId} ${raiseFlag(turn.reason) ?? ''}"`,
    );
  }
}

function turnRuns(conversationId: string): HoldfastClientError {
  return new HoldfastClientError(
    'nothing_to_resume',
    `conversation ${conversationId} has a turn that runs: wait for its end, or stop it first`,
  );
}
