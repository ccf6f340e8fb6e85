import type { EntryOutline, NoteSlot } from './entry.ts';
import type { Operation, SummaryInForce } from './plan.ts';

/** Which entries a view shows, and where; entries that it does not show are left out. */
export interface ViewArrangement<T extends EntryOutline> {
  /** The newest note of slot `rules`; goes into the system text. */
  readonly rules: T | null;
  /** The newest plan and memories from before the cut; stand right after the summary. */
  readonly carriedNotes: readonly T[];
  /** Kept verbatim before the summary; `null` unless the summary is placed after it. */
  readonly firstUserMessage: T | null;
  /** Older user messages, and groups that name active files: kept verbatim after the notes, oldest first. */
  readonly olderUserMessages: readonly T[];
  /** Everything from the cut on, in order of arrival. */
  readonly kept: readonly T[];
}

const CARRIED_SLOTS: readonly NoteSlot[] = ['plan', 'memories'];

/**
 * Decides what is visible, for measuring, planning and projecting alike. A note that is newer than
 * the cut stands where it was written, also when a still newer one of its slot follows: taking it
 * out at that moment would change the beginning of the request and lose the provider's cache. The
 * next compaction clears it.
 */
export function arrangeView<T extends EntryOutline>(input: {
  readonly entries: readonly T[];
  readonly summary: SummaryInForce | null;
  readonly operations: ReadonlyMap<string, Operation>;
}): ViewArrangement<T> {
  const cut = input.summary?.firstKeptSequence ?? -Infinity;
  const keptUserEntryIds = new Set(input.summary?.keptUserEntryIds ?? []);
  const carried = new Map<NoteSlot, T>();
  const olderUserMessages: T[] = [];
  const kept: T[] = [];
  let rules: T | null = null;
  for (const entry of input.entries) {
    if (entry.kind === 'compaction') continue;
    if (entry.kind === 'note') {
      if (input.operations.get(entry.id)?.kind === 'clear') continue;
      if (entry.slot === 'rules') rules = entry;
      else if (entry.sequence >= cut) kept.push(entry);
      else if (entry.slot !== undefined) carried.set(entry.slot, entry);
    } else if (entry.sequence >= cut) kept.push(entry);
    else if (keptUserEntryIds.has(entry.id)) olderUserMessages.push(entry);
  }
  const carriedNotes = CARRIED_SLOTS.flatMap((slot) => carried.get(slot) ?? []);
  const hasFirst = input.summary?.shown?.placement === 'after_first_message' && olderUserMessages[0]?.kind === 'user';
  const firstUserMessage = hasFirst ? (olderUserMessages.shift() ?? null) : null;
  return { rules, carriedNotes, firstUserMessage, olderUserMessages, kept };
}

/** The newest operation per entry; later ones in the list replace earlier ones. */
export function operationsByEntry(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  return new Map(operations.map((operation) => [operation.entryId, operation]));
}
