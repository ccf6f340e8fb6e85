import type { EntryOutline } from './entry.ts';
import type { Group } from './groups.ts';
import type { CompactionPolicy } from './policy.ts';

export interface CutSearch {
  readonly groups: readonly Group[];
  readonly tokensOfEntry: (entry: EntryOutline) => number;
  /** Tokens. */
  readonly tailBudget: number;
  readonly keep: Pick<CompactionPolicy['keep'], 'splitTurns' | 'tailReaches'>;
  /** Groups before this one have to go, whatever they take: the server takes no more messages. Default: 0. */
  readonly notBefore?: number;
}

/**
 * Index of the first group that stays as it is; `null` when nothing would be dropped. Walks from
 * the newest group back while the tail's budget lasts. The newest group that says something stays
 * in any case: the model has to answer it.
 */
export function chooseCut(search: CutSearch): number | null {
  const { groups, keep } = search;
  const newest = groups.findLastIndex((group) => group.cutBefore && group.kind !== 'note');
  if (newest <= 0) return null;
  const first = keep.tailReaches === 'at_most' ? firstWithin(search) : firstReaching(search);
  const cut = Math.min(nextCut(groups, Math.min(first, newest)), newest);
  const aligned = keep.splitTurns ? cut : cutAtTurn(search, cut);
  const { notBefore = 0 } = search;
  const capped = aligned >= notBefore ? aligned : Math.min(nextCut(groups, notBefore), newest);
  return capped > 0 ? capped : null;
}

/** The oldest group with which the tail is not over its budget. */
function firstWithin({ groups, tokensOfEntry, tailBudget }: CutSearch): number {
  let tail = 0;
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    for (const entry of groups[index]?.entries ?? []) tail += tokensOfEntry(entry);
    if (tail > tailBudget) return index + 1;
  }
  return 0;
}

/**
 * The group from the entry on with which the tail reaches its budget (seeds/pi.md). When that entry is
 * a tool result, its answer is too far back: the tail begins with the next group.
 */
function firstReaching({ groups, tokensOfEntry, tailBudget }: CutSearch): number {
  let tail = 0;
  for (let index = groups.length - 1; index >= 0; index -= 1) {
    const entries = groups[index]?.entries ?? [];
    for (let place = entries.length - 1; place >= 0; place -= 1) {
      const entry = entries[place];
      if (entry !== undefined) tail += tokensOfEntry(entry);
      if (tail >= tailBudget) return place === 0 ? index : index + 1;
    }
  }
  return 0;
}

/** The first group from `from` on that a view may begin with. */
function nextCut(groups: readonly Group[], from: number): number {
  const index = groups.findIndex((group, position) => position >= from && group.cutBefore);
  return index === -1 ? groups.length : index;
}

/** The nearest user message; inside the turn when it is the only one, or larger than the tail by itself. */
function cutAtTurn(search: CutSearch, cut: number): number {
  const { groups, keep, tailBudget } = search;
  const isTurn = (group: Group): boolean => group.kind === 'user' && group.cutBefore;
  const later = groups.findIndex((group, index) => index >= cut && isTurn(group));
  const earlier = groups.findLastIndex((group, index) => index <= cut && isTurn(group));
  if (keep.tailReaches === 'at_most') return later > 0 ? later : earlier > 0 ? earlier : cut;
  const end = groups.findIndex((group, index) => index > earlier && isTurn(group));
  const isLarge = earlier >= 0 && tokensBetween(search, earlier, end === -1 ? groups.length : end) > tailBudget;
  if (isLarge) return cut;
  return earlier > 0 ? earlier : later > 0 ? later : cut;
}

function tokensBetween({ groups, tokensOfEntry }: CutSearch, from: number, to: number): number {
  let sum = 0;
  for (const group of groups.slice(from, to)) for (const entry of group.entries) sum += tokensOfEntry(entry);
  return sum;
}

/**
 * Sequence of the message that opened the turn into which a cut falls, among the entries that are
 * dropped; `null` when the cut falls between turns, or when that message was summarized before.
 */
export function turnStartBefore(dropped: readonly EntryOutline[], cut: Group): number | null {
  if (cut.kind === 'user' || cut.kind === 'branch_summary') return null;
  const opening = dropped.findLast((entry) => entry.kind === 'user' || entry.kind === 'branch_summary');
  return opening?.sequence ?? null;
}
