import type { Group } from '../log/groups.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import type { CompactionPolicy } from '../policy/policy.ts';

interface CutSearch {
  /** Of positions. */
  readonly groups: readonly Group<number>[];
  readonly tokensAt: (position: number) => number;
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
  const newest = groups.findLastIndex(({ kind, cutBefore }) => cutBefore && kind !== 'note');
  if (newest <= 0) return null;
  const first = keep.tailReaches === 'at_most' ? firstWithin(search) : firstReaching(search);
  const cut = Math.min(nextCut(groups, Math.min(first, newest)), newest);
  const aligned = keep.splitTurns ? cut : cutAtTurn(search, cut);
  const { notBefore = 0 } = search;
  const capped = aligned >= notBefore ? aligned : Math.min(nextCut(groups, notBefore), newest);
  return capped > 0 ? capped : null;
}

/** Index of the group of an entry, or of the one before it with which a view may begin; `null` when nothing would be dropped. */
export function cutAtSequence(groups: readonly Group<number>[], sequence: number): number | null {
  const cut = groups.findLastIndex(({ firstSequence, cutBefore }) => cutBefore && firstSequence <= sequence);
  return cut > 0 ? cut : null;
}

function firstWithin({ groups, tokensAt, tailBudget }: CutSearch): number {
  let tail = 0;
  return (
    groups.findLastIndex(({ entries }) => {
      for (const position of entries) tail += tokensAt(position);
      return tail > tailBudget;
    }) + 1
  );
}

/**
 * The group from the entry on with which the tail reaches its budget (seeds/pi.md). When that entry is
 * a tool result, its answer is too far back: the tail begins with the next group.
 */
function firstReaching({ groups, tokensAt, tailBudget }: CutSearch): number {
  let tail = 0;
  let place = -1;
  const group = groups.findLastIndex(({ entries }) => {
    place = entries.findLastIndex((position) => {
      tail += tokensAt(position);
      return tail >= tailBudget;
    });
    return place !== -1;
  });
  return place > 0 ? group + 1 : Math.max(0, group);
}

/** The first group from `from` on that a view may begin with; the number of groups when there is none. */
function nextCut(groups: readonly Group<number>[], from: number): number {
  return orEnd(
    groups,
    groups.findIndex(({ cutBefore }, index) => index >= from && cutBefore),
  );
}

function orEnd(groups: readonly Group<number>[], index: number): number {
  return index === -1 ? groups.length : index;
}

/** The nearest user message; inside the turn when it is the only one, or the newest and larger than the tail by itself. */
function cutAtTurn(search: CutSearch, cut: number): number {
  const { groups, keep, tailBudget } = search;
  const isTurn = ({ kind, cutBefore }: Group<number>): boolean => cutBefore && kind === 'user';
  const later = groups.findIndex((group, index) => index >= cut && isTurn(group));
  const earlier = groups.findLastIndex((group, index) => index <= cut && isTurn(group));
  if (keep.tailReaches === 'at_most') return later > 0 ? later : earlier > 0 ? earlier : cut;
  const end = groups.findIndex((group, index) => index > earlier && isTurn(group));
  if (end === -1 && earlier >= 0 && tokensFrom(search, earlier) > tailBudget) return cut;
  return earlier > 0 ? earlier : later > 0 ? later : cut;
}

function tokensFrom({ groups, tokensAt }: CutSearch, from: number): number {
  return groups
    .slice(from)
    .flatMap(({ entries }) => entries)
    .reduce((sum, position) => sum + tokensAt(position), 0);
}

/**
 * Sequence of the message that opened the turn into which a cut falls, among the entries that are
 * dropped; `null` when the cut falls between turns, or when that message was summarized before.
 *
 * @param cut position of the first entry that stays
 */
export function turnStartBefore(table: OutlineTable, dropped: readonly number[], cut: number): number | null {
  const opensTurn = (position: number): boolean => {
    const { kind } = table.at(position);
    return kind === 'user' || kind === 'branch_summary';
  };
  if (opensTurn(cut)) return null;
  const opening = dropped.findLast(opensTurn);
  return opening === undefined ? null : table.at(opening).sequence;
}
