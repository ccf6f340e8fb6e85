import type { GroupTable } from '../log/groups.ts';
import type { Measurements } from '../log/measurements.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import type { Budget } from './plan.ts';

/** Shares of the cap that the tail and the older user messages may take after a pass; the rest is room to go on. */
const TAIL_SHARE = 0.4;
const USER_SHARE = 0.1;

/**
 * Whether a view has more messages than its server takes. Messages, calls and results are counted alike,
 * as the stored sums have them: never fewer than any protocol sends, and the system prompt is one more.
 */
export function isOverMessageCap(budget: Pick<Budget, 'maximumMessages'>, view: Pick<Measurements, 'frames'>): boolean {
  return budget.maximumMessages !== undefined && view.frames + 1 > budget.maximumMessages;
}

/** The oldest group with which the tail stays within its share of the cap; 0 without a cap. */
export function firstWithinMessageCap(
  groups: GroupTable,
  { maximumMessages }: Pick<Budget, 'maximumMessages'>,
): number {
  if (maximumMessages === undefined) return 0;
  let left = Math.floor(maximumMessages * TAIL_SHARE);
  for (let group = groups.length - 1; group >= 0; group -= 1) {
    for (const position of groups.entriesAt(group)) left -= groups.table.framesAt(position);
    if (left < 0) return group + 1;
  }
  return 0;
}

/** Of the older entries that would stay, the newest user messages within their share of the cap; all without a cap. */
export function olderWithinMessageCap(
  table: OutlineTable,
  positions: readonly number[],
  { maximumMessages }: Pick<Budget, 'maximumMessages'>,
): readonly number[] {
  const share = maximumMessages === undefined ? Infinity : Math.max(1, Math.floor(maximumMessages * USER_SHARE));
  // Groups that name files are left to the summary: half a group cannot stay.
  if (positions.length <= share) return positions;
  return positions.filter((position) => table.kindAt(position) === 'user').slice(-share);
}
