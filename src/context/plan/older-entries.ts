import { resolveAmount } from '../policy/budget.ts';
import { GroupTable } from '../log/groups.ts';
import { keptUserMessages } from './kept-user-messages.ts';
import { shortOpening } from './opening-message.ts';
import type { PlanningState } from './planning-state.ts';

/**
 * Positions of what stays verbatim of the part before a cut, oldest first: the first user message if the policy
 * says so, user messages within their budget, groups that name active files.
 */
export function olderEntries(
  state: PlanningState,
  of: {
    /** Position of the cut. */
    readonly before: number;
    readonly tokensAt: (position: number) => number;
    /** Tokens. */
    readonly userBudget: number;
    /** A user message stands after the cut. */
    readonly newestIsKept: boolean;
    /** How many of the kept groups stand before the cut. */
    readonly groupsBefore: number;
  },
): readonly number[] {
  const { table } = state;
  const first = keptFirst(state, of.before);
  // The first message may name an active file too.
  const active = olderActiveEntries(state, of).filter((position) => position !== first);
  const taken = new Set([...(first === null ? [] : [first]), ...active]);
  const candidates: number[] = [];
  for (let position = 0; position < of.before; position += 1) {
    if (table.kindAt(position) === 'user' && !taken.has(position)) candidates.push(position);
  }
  const users = keptUserMessages({
    candidates,
    tokensAt: of.tokensAt,
    budget: of.userBudget,
    newestIsKept: of.newestIsKept,
    opening: shortOpening(state, candidates, of.tokensAt),
  });
  return [...taken, ...users].sort((left, right) => left - right);
}

function keptFirst({ input, firstUserMessage }: PlanningState, before: number): number | null {
  if (!input.policy.keep.firstUserMessage || firstUserMessage === null) return null;
  return firstUserMessage < before ? firstUserMessage : null;
}

/** Entries of groups before the cut that name active files, the newest first within their amount; whole groups, as always (D8). */
function olderActiveEntries(
  state: PlanningState,
  of: { readonly groupsBefore: number; readonly tokensAt: (position: number) => number },
): readonly number[] {
  const { table, arrangement, groups } = state;
  const { policy, budget, activeEntryIds } = state.input;
  if (policy.keep.activeFiles === null || activeEntryIds === undefined) return [];
  let left = resolveAmount(policy.keep.activeFiles.amount, budget);
  const kept: number[] = [];
  const takeFrom = (from: GroupTable, end: number): void => {
    for (let group = end - 1; group >= 0; group -= 1) {
      const kind = from.kindAt(group);
      if (kind !== 'exchange' && kind !== 'user') continue;
      const entries = from.entriesAt(group);
      if (!entries.some((position) => activeEntryIds.has(table.idAt(position)))) continue;
      const tokens = entries.reduce((sum, position) => sum + of.tokensAt(position), 0);
      if (tokens > left) continue;
      left -= tokens;
      kept.push(...entries);
    }
  };
  takeFrom(groups, of.groupsBefore);
  const older = new GroupTable(table, arrangement.olderUserMessages);
  takeFrom(older, older.length);
  return kept;
}
