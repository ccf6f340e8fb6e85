import type { EntryOutline } from './entry.ts';

/**
 * Older user messages that stay word for word: the newest first, as long as they fit into the
 * budget. One that does not fit is passed over, so that a pasted log does not push out every short
 * request before it; the newest of all is named in any case, to be clipped if need be (R17).
 */
export function keptUserMessages(input: {
  /** User entries before the cut, oldest first. */
  readonly candidates: readonly EntryOutline[];
  readonly tokensOfEntry: (entry: EntryOutline) => number;
  /** Tokens. */
  readonly budget: number;
  /** A user message stands after the cut, so that none before it is the newest. */
  readonly newestIsKept: boolean;
}): { readonly entries: readonly EntryOutline[]; readonly tokens: number } {
  const entries: EntryOutline[] = [];
  let tokens = 0;
  for (const [position, entry] of input.candidates.toReversed().entries()) {
    const size = input.tokensOfEntry(entry);
    const isNewest = position === 0 && !input.newestIsKept;
    if (!isNewest && tokens + size > input.budget) continue;
    entries.push(entry);
    tokens += size;
  }
  return { entries: entries.reverse(), tokens };
}
