import type { Holdfast } from '../../client/holdfast.ts';
import type { ListedEntry } from '../../client/types.ts';

/** Finds the entries that events speak of, reading each page once. */
export interface EntrySource {
  /** The first entry not yet handed out that fits; `null` when there is none. */
  take(fits: (entry: ListedEntry) => boolean): Promise<ListedEntry | null>;
}

/** Of a client, what reads entries. */
export interface EntryReader {
  readonly log: Pick<Holdfast['log'], 'entries'>;
}

const PAGE = 100;

/** @param afterSequence entries up to it are not read */
export function createEntrySource(client: EntryReader, conversationId: string, afterSequence: number): EntrySource {
  let read = afterSequence;
  let waiting: ListedEntry[] = [];
  const taken = (fits: (entry: ListedEntry) => boolean): ListedEntry | null => {
    const found = waiting.find(fits) ?? null;
    if (found !== null) waiting = waiting.filter((entry) => entry !== found);
    return found;
  };
  return {
    async take(fits) {
      for (;;) {
        const found = taken(fits);
        if (found !== null) return found;
        const { items: page } = await client.log.entries({ conversationId, afterSequence: read, limit: PAGE });
        read = page.at(-1)?.sequence ?? read;
        // Notes and markers are not shown: no event asks for them.
        waiting.push(...page.filter(({ kind }) => kind === 'user' || kind === 'assistant' || kind === 'tool_result'));
        if (page.length === 0) return null;
      }
    },
  };
}

/** The sequence of the last entry before a time, found by halving, since entries are in order of time. */
export async function lastSequenceBefore(
  client: EntryReader,
  conversation: { readonly conversationId: string; readonly entryCount: number },
  isoTime: string,
): Promise<number> {
  const time = Date.parse(isoTime);
  let before = 0;
  let notBefore = conversation.entryCount + 1;
  while (notBefore - before > 1) {
    const middle = Math.floor((before + notBefore) / 2);
    const { items } = await client.log.entries({
      conversationId: conversation.conversationId,
      afterSequence: middle - 1,
      limit: 1,
    });
    const [entry] = items;
    if (entry !== undefined && Date.parse(entry.createdAt) < time) before = Math.max(middle, entry.sequence);
    else notBefore = middle;
  }
  return before;
}
