import type { Holdfast } from '../../client/holdfast.ts';
import type { ListedEntry, TimelineEvent } from '../../client/types.ts';

/** The entry that an event speaks of; `null` for an event without one. */
export async function entryOfEvent(
  client: { readonly log: Pick<Holdfast['log'], 'around'> },
  event: TimelineEvent,
): Promise<ListedEntry | null> {
  switch (event.kind) {
    case 'message_taken':
    case 'model_call_answered':
    case 'tool_call_finished': {
      const [entry] = await client.log.around({ entryId: event.data.entryId, count: 0 });
      return entry ?? null;
    }
    default:
      return null;
  }
}
