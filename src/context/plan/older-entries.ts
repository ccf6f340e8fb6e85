import { resolveAmount } from '../policy/budget.ts';
import { GroupTable } from '../log/groups.ts';
import type { PlanningState } from './planning-state.ts';

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
