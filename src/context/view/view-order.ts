import type { EntryOutline } from '../log/entry.ts';
import { groupEntries } from '../log/groups.ts';
import type { Group } from '../log/groups.ts';
import type { SummaryInForce } from '../plan/plan.ts';
import type { ViewArrangement } from './view-arrangement.ts';

/** A group of entries, or the place of the summary. */
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
