import { HoldfastClientError } from '../../client/errors.ts';
import type { Holdfast } from '../../client/holdfast.ts';
import type { SentMessage, ServedCommand, TurnSummary } from '../../client/types.ts';
import { Follower } from './follower.ts';
import type { Followed } from './follower.ts';

export type BranchChangeEnd = { readonly messageId: string } & (
  | { readonly kind: 'ended'; readonly turn: TurnSummary | ServedCommand }
  /** The branch is changed, and the message behind it goes on. */
  | { readonly kind: 'changed' }
  /** The signal aborted. */
  | { readonly kind: 'left' }
);

/** A summary of a long branch takes a model a while. */
const PATIENCE_MILLISECONDS = 600_000;

/**
 * Sends a change of branch and shows that it is waited for, until the turn of the message has ended; with `untilChanged` no longer
 * than until the branch is changed.
 * @throws HoldfastClientError `timeout` after 10 minutes
 */
export async function followBranchChange(
  options: Followed & {
    readonly client: Holdfast;
    readonly untilChanged: boolean;
    readonly request: () => Promise<SentMessage>;
  },
): Promise<BranchChangeEnd> {
  const { client, conversationId, signal, untilChanged } = options;
  // What was there before the request is not its effect; nothing else is at work, or it would be refused.
  const { eventCount: afterSequence } = await client.conversation.get({ conversationId });
  const { messageId } = await options.request();
  const within = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MILLISECONDS)]);
  const follower = new Follower({ ...options, signal: within });
  follower.show();
  for await (const update of follower.updates({ afterSequence, liveText: false })) {
    if (update.type !== 'event') continue;
    const { event } = update;
    follower.apply(event);
    follower.show();
    if (event.kind === 'branch_changed' && untilChanged) return { kind: 'changed', messageId };
    if (event.kind !== 'turn_ended') continue;
    const turn = await follower.through(() => outcomeNow(client, { conversationId, messageId }));
    if (turn !== null) return { kind: 'ended', messageId, turn };
  }
  if (signal.aborted) return { kind: 'left', messageId };
  const turn = await client.conversation.outcome({ conversationId, messageId, timeoutMilliseconds: 0 });
  return { kind: 'ended', messageId, turn };
}

/** `null` while the turn of the message has not ended. */
async function outcomeNow(
  client: Holdfast,
  message: { readonly conversationId: string; readonly messageId: string },
): Promise<TurnSummary | ServedCommand | null> {
  try {
    return await client.conversation.outcome({ ...message, timeoutMilliseconds: 0 });
  } catch (error) {
    if (error instanceof HoldfastClientError && error.code === 'timeout') return null;
    throw error;
  }
}
