import type { EntryOutline, NoteSlot } from '../log/entry.ts';
import type { Operation, SummaryInForce } from '../plan/plan.ts';
import { groupEntries } from '../log/groups.ts';
import type { Group } from '../log/groups.ts';

/** Which entries a view shows, and where; entries that it does not show are left out. */
export interface ViewArrangement<T> {
  /** The newest note of slot `rules`; goes into the system text. */
  readonly rules: T | null;
  /** The newest plan and memories from before the cut; stand right after the summary. */
  readonly carriedNotes: readonly T[];
  /** Kept verbatim before the summary; `null` unless the summary is placed after it. */
  readonly firstUserMessage: T | null;
  /** Older user messages, and groups that name active files: kept verbatim after the notes, oldest first. */
  readonly olderUserMessages: readonly T[];
  readonly kept: readonly T[];
}

const CARRIED_SLOTS: readonly NoteSlot[] = ['plan', 'memories'];

/**
 * Decides what is visible, for measuring, planning and projecting alike. A note that is newer than
 * the cut stands where it was written, also when a still newer one of its slot follows: taking it
 * out at that moment would change the beginning of the request and lose the provider's cache. The
 * next compaction clears it.
 */
export function arrangeItems<T>(
  items: readonly T[],
  outlineOf: (item: T) => EntryOutline,
  of: { readonly summary: SummaryInForce | null; readonly operations: OperationsInForce },
): ViewArrangement<T> {
  const cut = of.summary?.firstKeptSequence ?? -Infinity;
  const keptSequences = new Set(of.summary?.keptSequences ?? []);
  const carried = new Map<NoteSlot, T>();
  const olderUserMessages: T[] = [];
  const kept: T[] = [];
  let rules: T | null = null;
  for (const item of items) {
    const { id, kind, slot, sequence } = outlineOf(item);
    if (kind === 'compaction') continue;
    const isKept = sequence >= cut;
    if (kind === 'note') {
      if (of.operations.get(id)?.kind === 'clear') continue;
      if (slot === 'rules') rules = item;
      else if (isKept) kept.push(item);
      else if (slot !== undefined) carried.set(slot, item);
    } else if (isKept) kept.push(item);
    else if (keptSequences.has(sequence)) olderUserMessages.push(item);
  }
  const [oldest] = olderUserMessages;
  const isFirst = of.summary?.shown?.placement === 'after_first_message' && oldest !== undefined;
  const hasFirst = isFirst && outlineOf(oldest).kind === 'user';
  return {
    rules,
    carriedNotes: CARRIED_SLOTS.flatMap((slot) => carried.get(slot) ?? []),
    firstUserMessage: hasFirst ? oldest : null,
    olderUserMessages: hasFirst ? olderUserMessages.slice(1) : olderUserMessages,
    kept,
  };
}

/** The newest operation on each entry that has one, by the entry's id. */
export type OperationsInForce = ReadonlyMap<string, Operation>;

/** The arrangement of entries with whatever else they carry. */
export function arrangeView<T extends EntryOutline>(input: {
  readonly entries: readonly T[];
  readonly summary: SummaryInForce | null;
  readonly operations: OperationsInForce;
}): ViewArrangement<T> {
  return arrangeItems(input.entries, (entry) => entry, input);
}

/** The newest operation per entry; later ones in the list replace earlier ones. */
export function operationsByEntry(operations: readonly Operation[]): OperationsInForce {
  return new Map(operations.map((operation) => [operation.entryId, operation]));
}

export type ViewPart<T extends EntryOutline> = Group<T> | 'summary';

/**
 * The messages of a view in the order of the request, without the system text: for the projection, and for
 * whoever reckons which beginning two requests share.
 */
export function orderView<T extends EntryOutline>(
  arrangement: Omit<ViewArrangement<T>, 'rules'>,
  summary: SummaryInForce | null,
): ViewPart<T>[] {
  const { firstUserMessage, carriedNotes, olderUserMessages } = arrangement;
  const kept = groupEntries(arrangement.kept);
  const end = summaryPosition(kept, summary);
  const shownSummary: 'summary'[] = summary === null ? [] : ['summary'];
  return [
    ...groupEntries(firstUserMessage === null ? [] : [firstUserMessage]),
    ...(end === null ? shownSummary : []),
    ...groupEntries(carriedNotes),
    ...groupEntries(olderUserMessages),
    ...kept.slice(0, end ?? 0),
    ...(end === null ? [] : shownSummary),
    ...kept.slice(end ?? 0),
  ];
}

/** How many groups stand before a summary that is placed at the end of what existed then; `null` for any other. */
function summaryPosition(groups: readonly Group[], summary: SummaryInForce | null): number | null {
  if (summary?.shown?.placement !== 'end') return null;
  const { afterSequence } = summary.shown;
  return groups.findLastIndex((group) => group.firstSequence <= afterSequence) + 1;
}
