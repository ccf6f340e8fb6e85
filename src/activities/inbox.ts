import { getConversation } from '../store/conversations.ts';
import * as store from '../store/inbox.ts';
import type { InboxLook, LookAtInboxInput, TakeMessagesInput } from '../turn/activity-values.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** What waits. During a turn its commands are taken with the look; a repeated look says the same until they are served. */
export async function lookAtInbox(
  { database }: ActivityDependencies,
  { conversationId, turn }: LookAtInboxInput,
): Promise<InboxLook> {
  if (turn === null) {
    const conversation = await getConversation(database, conversationId);
    return { waiting: conversation?.waitingMessages ?? 0, steering: 0, stopRequested: false, compactRequested: false };
  }
  await store.takeCommands(database, turn);
  return store.lookAtInbox(database, turn);
}

/** At a step boundary: appends the steering messages that wait. */
export async function takeMessages(dependencies: ActivityDependencies, { turn }: TakeMessagesInput): Promise<void> {
  await store.takeMessages(dependencies.database, turn);
  dependencies.reachCrashPoint('takeMessages:written');
}
