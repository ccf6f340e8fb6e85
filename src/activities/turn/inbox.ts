import * as store from '../../store/messages/inbox.ts';
import type { InboxLook, LookAtInboxInput, TakeMessagesInput } from '../../turn/activity-values.ts';
import type { Execution } from '../runtime/activity-shell.ts';
import type { ActivityDependencies } from '../runtime/dependencies.ts';

/** What waits. A command waits until it is served, so a look that is repeated after a crash says the same. */
export async function lookAtInbox(
  { database }: ActivityDependencies,
  { conversationId, turn }: LookAtInboxInput,
): Promise<InboxLook> {
  return turn === null ? store.countInbox(database, conversationId) : store.lookAtInbox(database, turn);
}

/** At a step boundary: appends the steering messages that wait. */
export async function takeMessages(
  dependencies: ActivityDependencies,
  { turn, callNumber }: TakeMessagesInput,
  { runId }: Execution,
): Promise<void> {
  await store.takeMessages(dependencies.database, turn, callNumber === undefined ? undefined : { callNumber, runId });
  dependencies.reachCrashPoint('takeMessages:written');
}
