import { createEntrySource } from '../cli/follow/entry-source.ts';
import type { EntrySource } from '../cli/follow/entry-source.ts';
import { readEvent } from '../cli/render/read-event.ts';
import type { ReadEvent } from '../cli/render/read-event.ts';
import type { HoldfastClient, ListedEntry } from '../client/types.ts';

/**
 * Tells each event of the conversation's turn, with the entry that came with it, until the turn ends.
 * @returns the turn's id; `null` when the signal aborted first
 */
export async function followDemoTurn(
  client: HoldfastClient,
  conversationId: string,
  options: { readonly signal: AbortSignal; readonly onEvent: (event: ReadEvent, entry: ListedEntry | null) => void },
): Promise<string | null> {
  const entries = createEntrySource(client, conversationId, 0);
  for await (const update of client.watch({ conversationId, liveText: false, signal: options.signal })) {
    if (update.type !== 'event') continue;
    const event = readEvent(update.event);
    options.onEvent(event, await entryOf(entries, event));
    if (event.kind === 'turn_ended') return event.turnId;
  }
  return null;
}

async function entryOf(entries: EntrySource, event: ReadEvent): Promise<ListedEntry | null> {
  if (event.kind === 'call_answered') {
    const { callNumber } = event.call;
    return entries.take((entry) => entry.kind === 'assistant' && entry.callNumber === callNumber);
  }
  if (event.kind !== 'tool_finished') return null;
  const { callNumber, callIndex } = event.tool;
  return entries.take(
    (entry) => entry.kind === 'tool_result' && entry.callNumber === callNumber && entry.callIndex === callIndex,
  );
}
