import type { OutlineTable } from '../log/outline-table.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import { resolveAmount } from '../policy/budget.ts';
import { GroupTable } from '../log/groups.ts';
import type { PlanningState } from './planning-state.ts';

interface CutSearch {
  readonly groups: GroupTable;
  readonly tokensAt: (position: number) => number;
  /** Tokens. */
  readonly tailBudget: number;
  readonly keep: Pick<CompactionPolicy['keep'], 'splitTurns' | 'tailReaches'>;
}

/**
 * Index of the first group that stays as it is; `null` when nothing would be dropped. Walks from
 * the newest group back while the tail's budget lasts. The newest group that says something stays
 * in any case: the model has to answer it.
 */
export function chooseCut(search: CutSearch): number | null {
  const { groups, keep } = search;
  const newest = groupBack(groups.length - 1, (group) => {
    return groups.cutBeforeAt(group) && groups.kindAt(group) !== 'note';
  });
  if (newest <= 0) return null;
  const first = keep.tailReaches === 'at_most' ? firstWithin(search) : firstReaching(search);
  const cut = Math.min(nextCut(groups, Math.min(first, newest)), newest);
  const aligned = keep.splitTurns ? cut : cutAtTurn(search, cut);
  return aligned > 0 ? aligned : null;
}

/** Index of the group of an entry, or of the one before it with which a view may begin; `null` when nothing would be dropped. */
export function cutAtSequence(groups: GroupTable, sequence: number): number | null {
  const cut = groupBack(groups.length - 1, (group) => {
    return groups.firstSequenceAt(group) <= sequence && groups.cutBeforeAt(group);
  });
  return cut > 0 ? cut : null;
}

function firstWithin({ groups, tokensAt, tailBudget }: CutSearch): number {
  let tail = 0;
  for (let group = groups.length - 1; group >= 0; group -= 1) {
    for (const position of groups.entriesAt(group)) tail += tokensAt(position);
    if (tail > tailBudget) return group + 1;
  }
  return 0;
}

/**
 * The group from the entry on with which the tail reaches its budget (seeds/pi.md). When that entry is
 * a tool result, its answer is too far back: the tail begins with the next group.
 */
function firstReaching({ groups, tokensAt, tailBudget }: CutSearch): number {
  let tail = 0;
  for (let group = groups.length - 1; group >= 0; group -= 1) {
    const entries = groups.entriesAt(group);
    for (let place = entries.length - 1; place >= 0; place -= 1) {
      tail += tokensAt(entries[place] ?? 0);
      if (tail >= tailBudget) return place === 0 ? group : group + 1;
    }
  }
  return 0;
}

/** The first group from `from` on that a view may begin with; the number of groups when there is none. */
function nextCut(groups: GroupTable, from: number): number {
  return groupOn(groups, from, (group) => groups.cutBeforeAt(group));
}

/** The first group from `from` on that `fits`; the number of groups when there is none. */
function groupOn(groups: GroupTable, from: number, fits: (group: number) => boolean): number {
  let group = from;
  while (group < groups.length && !fits(group)) group += 1;
  return group;
}

/** The newest group up to `from` that `fits`; -1 when there is none. */
function groupBack(from: number, fits: (group: number) => boolean): number {
  let group = from;
  while (group >= 0 && !fits(group)) group -= 1;
  return group;
}

/** The nearest user message; inside the turn when it is the only one, or the newest and larger than the tail by itself. */
function cutAtTurn(search: CutSearch, cut: number): number {
  const { groups, keep, tailBudget } = search;
  const isTurn = (group: number): boolean => groups.cutBeforeAt(group) && groups.kindAt(group) === 'user';
  const found = groupOn(groups, cut, isTurn);
  const later = found < groups.length ? found : -1;
  const earlier = groupBack(Math.min(cut, groups.length - 1), isTurn);
  if (keep.tailReaches === 'at_most') return later > 0 ? later : earlier > 0 ? earlier : cut;
  const end = groupOn(groups, earlier + 1, isTurn);
  const isNewest = end >= groups.length;
  if (isNewest && earlier >= 0 && tokensBetween(search, earlier, end) > tailBudget) return cut;
  return earlier > 0 ? earlier : later > 0 ? later : cut;
}

function tokensBetween({ groups, tokensAt }: CutSearch, from: number, to: number): number {
  let sum = 0;
  for (let group = from; group < to; group += 1) {
    for (const position of groups.entriesAt(group)) sum += tokensAt(position);
  }
  return sum;
}

/**
 * Sequence of the message that opened the turn into which a cut falls, among the entries that are
 * dropped; `null` when the cut falls between turns, or when that message was summarized before.
 *
 * @param cut position of the first entry that stays
 */
export function turnStartBefore(table: OutlineTable, dropped: readonly number[], cut: number): number | null {
  const opensTurn = (position: number): boolean => {
    const kind = table.kindAt(position);
    return kind === 'user' || kind === 'branch_summary';
  };
  if (opensTurn(cut)) return null;
  const opening = dropped.findLast(opensTurn);
  return opening === undefined ? null : table.sequenceAt(opening);
}

/**
 * Positions of what stays verbatim of the part before a cut, oldest first: the first user message if the policy
 * says so, user messages within their budget, groups that name active files.
 */
export function olderEntries(
  state: PlanningState,
  of: {
    readonly before: number;
    readonly tokensAt: (position: number) => number;
    /** Tokens. */
    readonly userBudget: number;
    /** A user message stands after the cut. */
    readonly newestIsKept: boolean;
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

/**
 * Older user messages that stay word for word: the newest first, up to the first that does not fit into the budget. What is older
 * than that one would stand behind the summary, which tells what it changed, and be believed as what was said last (measured where
 * such ones stayed: 3 % of changed facts after 5 compactions). A long one is passed over, so that a pasted log does not push out every
 * short request before it. The newest of all is named in any case, to be clipped if need be (R17).
 * A short one that opened the running turn comes before all newer ones, and stays whatever the budget.
 */
export function keptUserMessages(input: {
  readonly candidates: readonly number[];
  readonly tokensAt: (position: number) => number;
  readonly budget: number;
  /** A user message stands after the cut, so that none before it is the newest. */
  readonly newestIsKept: boolean;
  /** Position of the short message that opened the running turn; `null` when it is no candidate. */
  readonly opening: number | null;
}): readonly number[] {
  const { opening } = input;
  const kept: number[] = opening === null ? [] : [opening];
  let tokens = opening === null ? 0 : input.tokensAt(opening);
  for (const [place, position] of input.candidates.toReversed().entries()) {
    if (position === opening) continue;
    const size = input.tokensAt(position);
    const isNewest = place === 0 && !input.newestIsKept;
    if (!isNewest && tokens + size > input.budget) {
      if (isShortMessage(size, input.budget)) break;
      continue;
    }
    kept.push(position);
    tokens += size;
  }
  return kept.sort((left, right) => left - right);
}

/**
 * Share of the budget for user messages up to which one counts as short: a request, no pasted text. A list of 41 files takes a
 * third of that of a window of 16,000 tokens; of a quarter, where it was first, the soak lost such tasks.
 */
const SHORT_SHARE = 0.5;

/**
 * Position of the message that opened the running turn, when it is short; `null` when it is long or not among them. Messages that
 * steer a turn say little without what it was asked, so a short one stays as it is. What is short is not measured by the room of
 * one pass: where there is little, remarks without the task are of least use. A long one would push out all others; of
 * that the summary tells.
 * @param positions of user entries, oldest first
 */
export function shortOpening(
  { input, table }: PlanningState,
  positions: readonly number[],
  tokensAt: (position: number) => number,
): number | null {
  if (input.turnIsOver === true) return null;
  const opening = positions.find((position) => table.turnIdAt(position) === input.turnId);
  return opening !== undefined && isShortMessage(tokensAt(opening), input.budget.userMessages) ? opening : null;
}

/** @param budget for user messages, tokens */
export function isShortMessage(tokens: number, budget: number): boolean {
  return tokens <= SHORT_SHARE * budget;
}
