import type { Database } from '../store/database.ts';
import { turnWorkflowId } from '../turn/workflow-id.ts';
import { describeConversation } from './conversation.ts';
import type { RungTemporal } from './doorbell.ts';

/** Temporal is asked only about a turn that is open; without an answer in this time the turn counts as running. */
const TEMPORAL_PATIENCE_MILLISECONDS = 2_000;

/** Whether the newest turn is open in Postgres alone. */
export async function isTurnLost(database: Database, temporal: RungTemporal, conversationId: string): Promise<boolean> {
  const { turn } = await describeConversation(database, conversationId);
  if (turn === null || turn.state === 'ended' || (await hasOpenWorkflow(temporal, conversationId))) return false;
  // Read after Temporal was asked: a turn that ended by itself meanwhile has its outcome, another one may have begun.
  const later = await describeConversation(database, conversationId);
  return later.turn?.turnId === turn.turnId && later.turn.state !== 'ended';
}

/** `true` also when Temporal does not answer: nobody knows then that the turn is lost. */
export async function hasOpenWorkflow(temporal: RungTemporal, conversationId: string): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const impatience = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, TEMPORAL_PATIENCE_MILLISECONDS, true);
  });
  const asking = async (): Promise<boolean> => {
    const [client, { isWorkflowOpen }] = await Promise.all([temporal.client(), import('../temporal/newest-run.ts')]);
    return isWorkflowOpen(client, turnWorkflowId(conversationId));
  };
  try {
    return await Promise.race([asking().catch(() => true), impatience]);
  } finally {
    clearTimeout(timer);
  }
}
