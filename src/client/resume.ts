import { COUNTED_OF_CONVERSATION, countedOf } from '../turn/spending.ts';
import type { ConversationCounts } from '../turn/spending.ts';
import { isMessageKnown } from '../store/messages.ts';
import type { Database } from '../store/database.ts';
import { describeConversation } from './conversation.ts';
import { HoldfastClientError } from './errors.ts';
import type { Conversation } from './types.ts';

/** Refuses what would begin a turn that ends at once. What was sent before is sent once, also when it has begun a turn meanwhile. */
export async function requireResumable(
  database: Database,
  resume: {
    readonly conversationId: string;
    readonly raise: Partial<ConversationCounts>;
    readonly messageId: string | undefined;
  },
): Promise<void> {
  const { conversationId, raise, messageId } = resume;
  if (messageId !== undefined && (await isMessageKnown(database, messageId))) return;
  checkResume(await describeConversation(database, conversationId), raise);
}

function checkResume({ conversationId, turn }: Conversation, raise: Partial<ConversationCounts>): void {
  for (const [name, by] of Object.entries(raise)) {
    const isKnown = COUNTED_OF_CONVERSATION.some((counted) => counted === name);
    if (!isKnown || !Number.isFinite(by) || by <= 0) {
      throw new HoldfastClientError(
        'invalid_argument',
        `a raise of ${name} by ${by} is not possible: raise ${COUNTED_OF_CONVERSATION.join(', ')} by more than 0`,
      );
    }
  }
  if (turn === null || turn.outcome === null || turn.outcome === 'completed') {
    const state =
      turn === null ? 'has had no turn' : turn.outcome === null ? 'has a turn that runs' : 'completed its last turn';
    throw new HoldfastClientError('nothing_to_resume', `conversation ${conversationId} ${state}`);
  }
  const reached = turn.outcome === 'budget_exhausted' ? countedOf(turn.reason ?? '') : null;
  if (reached !== null && raise[reached] === undefined) {
    throw new HoldfastClientError(
      'limit_not_raised',
      `the turn ended at ${turn.reason ?? 'a limit'}: say by how much to raise ${reached}`,
    );
  }
}
