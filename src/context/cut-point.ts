import type { Group } from './groups.ts';

/**
 * Index of the first group that stays as it is; `null` when nothing would be dropped. Walks from
 * the newest group back while the tail's budget lasts. The newest group that says something stays
 * in any case: the model has to answer it.
 */
export function chooseCut(input: {
  readonly groups: readonly Group[];
  readonly tokensOfGroup: (group: Group) => number;
  /** Tokens. */
  readonly tailBudget: number;
  readonly splitTurns: boolean;
}): number | null {
  const { groups } = input;
  const newest = groups.findLastIndex((group) => group.cutBefore && group.kind !== 'note');
  if (newest <= 0) return null;
  let first = groups.length;
  let tail = 0;
  while (first > 0) {
    const group = groups[first - 1];
    if (group === undefined) break;
    tail += input.tokensOfGroup(group);
    if (tail > input.tailBudget) break;
    first -= 1;
  }
  const cut = Math.min(nextCut(groups, Math.min(first, newest)), newest);
  const aligned = input.splitTurns ? cut : cutAtTurn(groups, cut);
  return aligned > 0 ? aligned : null;
}

/** The first group from `from` on that a view may begin with. */
function nextCut(groups: readonly Group[], from: number): number {
  const index = groups.findIndex((group, position) => position >= from && group.cutBefore);
  return index === -1 ? groups.length : index;
}

/** The nearest user message, later before earlier; inside the turn when it is the only one. */
function cutAtTurn(groups: readonly Group[], cut: number): number {
  const later = groups.findIndex((group, index) => index >= cut && group.kind === 'user' && group.cutBefore);
  if (later > 0) return later;
  const earlier = groups.findLastIndex((group, index) => index < cut && group.kind === 'user' && group.cutBefore);
  return earlier > 0 ? earlier : cut;
}
