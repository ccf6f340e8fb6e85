import { turnWorkflowId } from '../temporal/names.ts';
import { findOpenTurns, findWaitingConversations, markInterrupted } from '../store/upkeep.ts';
import { closeToolCall } from './close-tool-call.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Seconds that a row may wait before upkeep takes it for one that nobody rang for. */
const UNRUNG_AFTER_SECONDS = 5;
/** Seconds that a turn may be without a sign before Temporal is asked for its workflow. */
const LOST_AFTER_SECONDS = 30;

/** Rings for rows whose sender died between writing and ringing. */
export async function ringForWaitingMessages({ database, ringDoorbell }: ActivityDependencies): Promise<void> {
  const waiting = await findWaitingConversations(database, { olderThanSeconds: UNRUNG_AFTER_SECONDS, limit: 200 });
  for (const { conversationId } of waiting) await ringDoorbell(conversationId);
}

/** Ends turns whose workflow Temporal no longer knows (terminated, or its data lost), and rings for what waits behind them. */
export async function repairLostTurns(dependencies: ActivityDependencies): Promise<void> {
  const { database, isWorkflowOpen, ringDoorbell } = dependencies;
  const open = await findOpenTurns(database, { olderThanSeconds: LOST_AFTER_SECONDS, limit: 200 });
  for (const { turn } of open) {
    if (await isWorkflowOpen(turnWorkflowId(turn.conversationId))) continue;
    if (await markInterrupted(database, turn, closeToolCall)) await ringDoorbell(turn.conversationId);
  }
}
