import { createEntrySource } from '../../src/cli/follow/entry-source.ts';
import type { EntrySource } from '../../src/cli/follow/entry-source.ts';
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
  const entries = createEntrySource(client, conversationId, 0);
  for await (const update of client.conversation.watch({ conversationId, liveText: false, signal: options.signal })) {
    if (update.type !== 'event') continue;
    const { event } = update;
    options.onEvent(event, await entryOf(entries, event));
    if (event.kind === 'turn_ended') return event.turnId;
  }
  return null;
}

async function entryOf(entries: EntrySource, event: TimelineEvent): Promise<ListedEntry | null> {
  if (event.kind !== 'model_call_answered' && event.kind !== 'tool_call_finished') return null;
  return entries.take(({ entryId }) => entryId === event.data.entryId);
}
