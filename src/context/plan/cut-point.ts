import type { CompactionPolicy } from '../policy/policy.ts';
import { resolveAmount } from '../policy/budget.ts';
import { groupEntries, mayBegin } from '../log/groups.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import type { Draft } from './planning-state.ts';

interface CutSearch {
  /** Positions of what the view keeps, ascending. */
  readonly kept: readonly number[];
  readonly table: OutlineTable;
  readonly tokensAt: (position: number) => number;
  /** Tokens. */
  readonly tailBudget: number;
  readonly keep: Pick<CompactionPolicy['keep'], 'splitTurns' | 'tailReaches'>;
}

/**
 * Place in the kept positions of the first entry that stays as it is; `null` when nothing would be dropped. Walks from
 * the newest entry back while the tail's budget lasts. The newest that says something stays in any case: the model has to answer it.
 */
export function chooseCut(search: CutSearch): number | null {
  const { kept, table, keep } = search;
  const newest = kept.findLastIndex((position, place) => {
    return table.kindAt(position) !== 'note' && mayBegin(table, kept, place);
  });
  if (newest <= 0) return null;
  let cut = Math.min(tailStart(search), newest);
  while (!mayBegin(table, kept, cut)) cut += 1;
  const aligned = keep.splitTurns ? cut : cutAtTurn(search, cut);
  return aligned > 0 ? aligned : null;
}

/** Place of an entry, or of the one before it with which a view may begin; `null` when nothing would be dropped. */
export function cutAtSequence({ kept, table }: Pick<CutSearch, 'kept' | 'table'>, sequence: number): number | null {
  const cut = kept.findLastIndex((position, place) => {
    return table.sequenceAt(position) <= sequence && mayBegin(table, kept, place);
  });
  return cut > 0 ? cut : null;
}

/** Where the tail begins that stays within its budget, or that includes the entry with which it reaches it (seeds/pi.md). */
function tailStart({ kept, tokensAt, tailBudget, keep }: CutSearch): number {
  let tail = 0;
  for (let place = kept.length - 1; place >= 0; place -= 1) {
    tail += tokensAt(kept[place] ?? 0);
    if (keep.tailReaches === 'at_least' && tail >= tailBudget) return place;
    if (keep.tailReaches === 'at_most' && tail > tailBudget) return place + 1;
  }
  return 0;
}

/** The nearest user message; inside the turn when it is the only one, or the newest and larger than the tail by itself. */
function cutAtTurn({ kept, table, tokensAt, keep, tailBudget }: CutSearch, cut: number): number {
  const isTurn = (place: number): boolean => table.kindAt(kept[place] ?? 0) === 'user' && mayBegin(table, kept, place);
  const later = kept.findIndex((_, place) => place >= cut && isTurn(place));
  const earlier = kept.findLastIndex((_, place) => place <= cut && isTurn(place));
  const nearest = keep.tailReaches === 'at_most' ? [later, earlier] : [earlier, later];
  const turn = nearest.find((place) => place > 0) ?? cut;
  if (keep.tailReaches === 'at_most' || later !== -1) return turn;
  const ofTurn = kept.slice(turn).reduce((sum, position) => sum + tokensAt(position), 0);
  return ofTurn > tailBudget ? cut : turn;
}

/**
 * Sequence of the message that opened the turn into which a cut falls, among the entries that are
 * dropped; `null` when the cut falls between turns, or when that message was summarized before.
 *
 * @param cut position of the first entry that stays
 */
export function turnStartBefore(table: OutlineTable, dropped: readonly number[], cut: number): number | null {
  const opensTurn = (position: number): boolean => ['user', 'branch_summary'].includes(table.kindAt(position));
  if (opensTurn(cut)) return null;
  const opening = dropped.findLast(opensTurn);
  return opening === undefined ? null : table.sequenceAt(opening);
}

/**
 * Positions of what stays verbatim of the part before a cut, oldest first: the first user message if the policy
 * says so, user messages within their budget, groups that name active files.
 */
export function olderEntries(
  capped: Draft,
  of: {
    readonly before: number;
    /** Tokens. */
    readonly userBudget: number;
    /** A user message stands after the cut. */
    readonly newestIsKept: boolean;
  },
): readonly number[] {
  const { table, firstUserMessage, input } = capped.state;
  const taken = new Set(olderActiveEntries(capped, of.before));
  const keepsFirst = input.policy.keep.firstUserMessage && firstUserMessage !== -1 && firstUserMessage < of.before;
  if (keepsFirst) taken.add(firstUserMessage);
  const candidates: number[] = [];
  for (let position = 0; position < of.before; position += 1) {
    if (table.kindAt(position) === 'user' && !taken.has(position)) candidates.push(position);
  }
  const users = keptUserMessages({
    candidates,
    tokensAt: (position) => capped.tokensOf(position),
    budget: of.userBudget,
    newestIsKept: of.newestIsKept,
    opening: shortOpening(capped, candidates),
  });
  return [...taken, ...users].sort((left, right) => left - right);
}

/** Entries of groups before the cut that name active files, the newest first within their amount; whole groups, as always (D8). */
function olderActiveEntries(capped: Draft, before: number): readonly number[] {
  const { input, table, arrangement } = capped.state;
  const { policy, budget, activeEntryIds } = input;
  if (policy.keep.activeFiles === null || activeEntryIds === undefined) return [];
  let left = resolveAmount(policy.keep.activeFiles, budget);
  const kept: number[] = [];
  const older = [...arrangement.olderUserMessages, ...arrangement.kept].filter((position) => position < before);
  const entries = older.map((position) => Object.assign(table.at(position), { position }));
  for (const group of groupEntries(entries).toReversed()) {
    if (group.kind !== 'assistant' && group.kind !== 'user') continue;
    if (!group.entries.some(({ id }) => activeEntryIds.has(id))) continue;
    const positions = group.entries.map(({ position }) => position);
    const tokens = capped.sum(positions);
    if (tokens > left) continue;
    left -= tokens;
    kept.push(...positions);
  }
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
export function shortOpening(draft: Draft, positions: readonly number[]): number | null {
  const { input, table } = draft.state;
  if (input.turnIsOver === true) return null;
  const opening = positions.find((position) => table.at(position).turnId === input.turnId);
  return opening !== undefined && isShortMessage(draft.tokensOf(opening), input.budget.userMessages) ? opening : null;
}

/** @param budget for user messages, tokens */
function isShortMessage(tokens: number, budget: number): boolean {
  return tokens <= SHORT_SHARE * budget;
}
