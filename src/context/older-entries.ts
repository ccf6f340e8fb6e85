import { resolveAmount } from './budget.ts';
import type { EntryOutline } from './entry.ts';
import { groupEntries } from './groups.ts';
import type { Group } from './groups.ts';
import { keptUserMessages } from './kept-user-messages.ts';
import type { PlanningState } from './planning-state.ts';

/**
 * What stays verbatim of the part before a cut, oldest first: the first user message if the policy
 * says so, user messages within their budget, groups that name active files.
 */
export function olderEntries(
  state: PlanningState,
  of: {
    /** Sequence of the cut. */
    readonly before: number;
    readonly tokensOfEntry: (entry: EntryOutline) => number;
    /** Tokens. */
    readonly userBudget: number;
    /** A user message stands after the cut. */
    readonly newestIsKept: boolean;
    readonly activeGroups: readonly Group[];
  },
): readonly EntryOutline[] {
  const first = keptFirst(state, of.before);
  // The first message may name an active file too.
  const active = of.activeGroups.flatMap((group) => group.entries).filter((entry) => entry.id !== first?.id);
  const taken = new Set([...(first === null ? [] : [first]), ...active].map((entry) => entry.id));
  const users = keptUserMessages({
    candidates: state.input.entries.filter(
      (entry) => entry.kind === 'user' && entry.sequence < of.before && !taken.has(entry.id),
    ),
    tokensOfEntry: of.tokensOfEntry,
    budget: of.userBudget,
    newestIsKept: of.newestIsKept,
  });
  const kept = [...(first === null ? [] : [first]), ...active, ...users.entries];
  return kept.sort((left, right) => left.sequence - right.sequence);
}

function keptFirst({ input, firstUserMessage }: PlanningState, before: number): EntryOutline | null {
  if (input.policy.keep.firstUserMessage !== true || firstUserMessage === null) return null;
  return firstUserMessage.sequence < before ? firstUserMessage : null;
}

/** Groups before the cut that name active files, the newest first within their amount; whole, as every group (D8). */
export function olderActiveGroups(
  state: PlanningState,
  of: { readonly groups: readonly Group[]; readonly tokensOfGroup: (group: Group) => number },
): readonly Group[] {
  const { policy, budget, activeEntryIds } = state.input;
  if (policy.keep.activeFiles === undefined || activeEntryIds === undefined) return [];
  let left = resolveAmount(policy.keep.activeFiles.amount, budget);
  const kept: Group[] = [];
  const candidates = [...groupEntries(state.arrangement.olderUserMessages), ...of.groups];
  for (const group of candidates.toReversed()) {
    if (group.kind !== 'exchange' && group.kind !== 'user') continue;
    if (!group.entries.some((entry) => activeEntryIds.has(entry.id))) continue;
    const tokens = of.tokensOfGroup(group);
    if (tokens > left) continue;
    left -= tokens;
    kept.push(group);
  }
  return kept.reverse();
}
