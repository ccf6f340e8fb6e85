import type { CompactionPolicy } from '../policy/policy.ts';
import { resolveAmount } from '../policy/budget.ts';
import { groupEntries, mayBegin } from '../log/groups.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import type { PlanningState } from './planning-state.ts';

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
  const newest = placeBack(kept.length - 1, (place) => {
    return table.kindAt(kept[place] ?? 0) !== 'note' && mayBegin(table, kept, place);
  });
  if (newest <= 0) return null;
  const cut = placeOn(newest, Math.min(tailStart(search), newest), (place) => mayBegin(table, kept, place));
  const aligned = keep.splitTurns ? cut : cutAtTurn(search, cut);
  return aligned > 0 ? aligned : null;
}

/** Place of an entry, or of the one before it with which a view may begin; `null` when nothing would be dropped. */
export function cutAtSequence({ kept, table }: Pick<CutSearch, 'kept' | 'table'>, sequence: number): number | null {
  const cut = placeBack(kept.length - 1, (place) => {
    return table.sequenceAt(kept[place] ?? 0) <= sequence && mayBegin(table, kept, place);
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

/** The first place from `from` on that `fits`; `end` when there is none. */
function placeOn(end: number, from: number, fits: (place: number) => boolean): number {
  let place = from;
  while (place < end && !fits(place)) place += 1;
  return place;
}

/** The newest place up to `from` that `fits`; -1 when there is none. */
function placeBack(from: number, fits: (place: number) => boolean): number {
  let place = from;
  while (place >= 0 && !fits(place)) place -= 1;
  return place;
}

/** The nearest user message; inside the turn when it is the only one, or the newest and larger than the tail by itself. */
function cutAtTurn({ kept, table, tokensAt, keep, tailBudget }: CutSearch, cut: number): number {
  const isTurn = (place: number): boolean => table.kindAt(kept[place] ?? 0) === 'user' && mayBegin(table, kept, place);
  const found = placeOn(kept.length, cut, isTurn);
  const later = found < kept.length ? found : -1;
  const earlier = placeBack(Math.min(cut, kept.length - 1), isTurn);
  if (keep.tailReaches === 'at_most') return later > 0 ? later : earlier > 0 ? earlier : cut;
  const isNewest = placeOn(kept.length, earlier + 1, isTurn) === kept.length;
  const ofTurn = kept.slice(earlier).reduce((sum, position) => sum + tokensAt(position), 0);
  if (isNewest && earlier >= 0 && ofTurn > tailBudget) return cut;
  return earlier > 0 ? earlier : later > 0 ? later : cut;
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
  state: PlanningState,
  of: {
    readonly before: number;
    readonly tokensAt: (position: number) => number;
    /** Tokens. */
    readonly userBudget: number;
    /** A user message stands after the cut. */
    readonly newestIsKept: boolean;
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
  if (!input.policy.keep.firstUserMessage || firstUserMessage === -1) return null;
  return firstUserMessage < before ? firstUserMessage : null;
}

/** Entries of groups before the cut that name active files, the newest first within their amount; whole groups, as always (D8). */
function olderActiveEntries(
  { input, table, arrangement }: PlanningState,
  of: { readonly before: number; readonly tokensAt: (position: number) => number },
): readonly number[] {
  const { policy, budget, activeEntryIds } = input;
  if (policy.keep.activeFiles === null || activeEntryIds === undefined) return [];
  let left = resolveAmount(policy.keep.activeFiles.amount, budget);
  const kept: number[] = [];
  const shown = [...arrangement.olderUserMessages, ...arrangement.kept].filter((position) => position < of.before);
  const positions = new Map(shown.map((position) => [table.at(position), position]));
  for (const group of groupEntries([...positions.keys()]).toReversed()) {
    if (group.kind !== 'assistant' && group.kind !== 'user') continue;
    if (!group.entries.some(({ id }) => activeEntryIds.has(id))) continue;
    const ofGroup = group.entries.flatMap((entry) => positions.get(entry) ?? []);
    const tokens = ofGroup.reduce((sum, position) => sum + of.tokensAt(position), 0);
    if (tokens > left) continue;
    left -= tokens;
    kept.push(...ofGroup);
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
export function shortOpening(
  { input, table }: PlanningState,
  positions: readonly number[],
  tokensAt: (position: number) => number,
): number | null {
  if (input.turnIsOver === true) return null;
  const opening = positions.find((position) => table.at(position).turnId === input.turnId);
  return opening !== undefined && isShortMessage(tokensAt(opening), input.budget.userMessages) ? opening : null;
}

/** @param budget for user messages, tokens */
export function isShortMessage(tokens: number, budget: number): boolean {
  return tokens <= SHORT_SHARE * budget;
}
