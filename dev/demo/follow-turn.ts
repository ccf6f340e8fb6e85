import { entryOfEvent } from '../../src/cli/follow/entry-of-event.ts';
import type { Holdfast } from '../../src/client/holdfast.ts';
import type { ListedEntry, TimelineEvent } from '../../src/client/types.ts';

/**
 * Tells each event of the conversation's turn, with the entry that came with it, until the turn ends.
 * @returns the turn's id; `null` when the signal aborted first
 */
export async function followDemoTurn(
  client: Holdfast,
  conversationId: string,
  options: {
    readonly signal: AbortSignal;
    readonly onEvent: (event: TimelineEvent, entry: ListedEntry | null) => void;
  },
): Promise<string | null> {
  for await (const update of client.conversation.watch({ conversationId, liveText: false, signal: options.signal })) {
    if (update.type !== 'event') continue;
    const { event } = update;
    options.onEvent(event, await entryOfEvent(client, event));
    if (event.kind === 'turn_ended') return event.turnId;
  }
  return null;
}
