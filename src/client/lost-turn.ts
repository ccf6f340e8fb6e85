import type { Database } from '../store/database/database.ts';
import { StoreError } from '../store/database/errors.ts';
import type { MessageInput } from '../store/messages/messages.ts';
import { turnWorkflowId } from '../turn/workflow-id.ts';
import { describeConversation } from './conversation.ts';
import type { RungTemporal } from './doorbell.ts';
import { withPatience } from './patience.ts';

/** The newest turn, if it is open in Postgres alone. */
export async function findLostTurn(
  database: Database,
  temporal: RungTemporal,
  conversationId: string,
): Promise<string | null> {
  const { turn } = await describeConversation(database, conversationId);
  if (turn === null || turn.state === 'ended' || (await hasOpenWorkflow(temporal, conversationId))) return null;
  // Read after Temporal was asked: a turn that ended by itself meanwhile has its outcome, another one may have begun.
  const later = await describeConversation(database, conversationId);
  return later.turn?.turnId === turn.turnId && later.turn.state !== 'ended' ? turn.turnId : null;
}

/**
 * Sends a change of branch. A turn whose workflow is gone does not keep it waiting: as with a message, the turn that begins by it ends
 * that one first.
 */
export async function pastLostTurn<Accepted>(
  database: Database,
  temporal: RungTemporal,
  { conversationId }: Pick<MessageInput, 'conversationId'>,
  accept: (lost: Pick<MessageInput, 'lostTurnId'>) => Promise<Accepted>,
): Promise<Accepted> {
  try {
    return await accept({});
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'conversation_busy') throw error;
    const lostTurnId = await findLostTurn(database, temporal, conversationId);
    if (lostTurnId === null) throw error;
    return accept({ lostTurnId });
  }
}

/** `true` also when Temporal does not answer: nobody knows then that the turn is lost. */
export async function hasOpenWorkflow(temporal: RungTemporal, conversationId: string): Promise<boolean> {
  const asking = async (): Promise<boolean> => {
    const [client, { isWorkflowOpen }] = await Promise.all([temporal.client(), import('../temporal/newest-run.ts')]);
    return isWorkflowOpen(client, turnWorkflowId(conversationId));
  };
  return withPatience(
    asking().catch(() => true),
    true,
  );
}
