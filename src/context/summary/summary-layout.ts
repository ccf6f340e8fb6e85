import {
  chooseCut,
  cutAtSequence,
  turnStartBefore,
  firstWithinMessageCap,
  olderWithinMessageCap,
} from '../plan/cut-point.ts';
import type { GroupKind, GroupTable } from '../log/groups.ts';
import { olderEntries } from '../plan/older-entries.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import { countedTokens, shownTokens, sumShown } from '../plan/planning-state.ts';
import type { Draft, PlanningState } from '../plan/planning-state.ts';
import { quotedTokens } from './summary-quotes.ts';
import { coveredAlready } from '../plan/summary-sizes.ts';

export interface Rooms {
  readonly summary: number;
  /** Of a split turn whose beginning gets a text of its own. */
  readonly turnPrefix: number;
  readonly tail: number;
  readonly userMessages: number;
}

export interface Layout {
  /** Sequence of the first entry that stays; that of the marker when it opens the view. */
  readonly cut: number;
  /** The same as a position; the table's length when nothing of it stays. */
  readonly from: number;
  /** Positions of messages that no summary covers yet and the cut drops, oldest first. */
  readonly dropped: readonly number[];
  /** Opening message of the turn that the cut splits; `null` when it falls between turns. */
  readonly turnStart: number | null;
  readonly tail: readonly number[];
  readonly tailTokens: number;
  readonly older: readonly number[];
  readonly olderTokens: number;
  readonly quotedTokens: number;
}

/**
 * Places the cut.
 *
 * @param capped results beyond the policy's caps, shortened
 * @returns `null` when nothing would be dropped
 */
export function layOut(state: PlanningState, rooms: Rooms, capped: Draft): Layout | null {
  const { table, groups } = state;
  const { budget, turnIsOver } = state.input;
  const index = cutIndex(state, rooms, capped);
  if (index === null) return null;
  const tail = groups.entriesFrom(index);
  const cut = index < groups.length ? groups.firstSequenceAt(index) : afterNewest(table);
  const from = table.firstFrom(cut);
  const dropped = droppedMessages(state, from);
  const wanted = olderEntries(state, {
    before: from,
    tokensAt: (position) => shownTokens(state, capped, position),
    userBudget: rooms.userMessages,
    groupsBefore: index,
    newestIsKept: turnIsOver === true || tail.some((position) => table.kindAt(position) === 'user'),
  });
  const older = olderWithinMessageCap(table, wanted, budget);
  const [first] = tail;
  return {
    cut,
    from,
    dropped,
    turnStart: first === undefined ? null : turnStartBefore(table, dropped, first),
    tail,
    tailTokens: sumShown(state, capped, tail),
    older,
    olderTokens: sumShown(state, capped, older),
    quotedTokens: quotedTokens(state, from),
  };
}

function cutIndex(state: PlanningState, rooms: Rooms, capped: Draft): number | null {
  const { groups } = state;
  const { policy, budget, keepFrom } = state.input;
  if (keepFrom !== undefined) return cutAtSequence(groups, keepFrom);
  if (policy.keep.pivot) return pivotIndex(state);
  return chooseCut({
    groups,
    tokensAt: (position) => Math.ceil(countedTokens(state, capped, position)),
    tailBudget: rooms.tail,
    keep: policy.keep,
    notBefore: firstWithinMessageCap(groups, budget),
  });
}

/**
 * After everything; a user message that nobody has answered stays, and so do results with media that no request has carried:
 * no summary can tell what is on them. After an overflow they may be what was too much (O28).
 */
function pivotIndex({ groups, input }: PlanningState): number | null {
  const newest = newestGroup(groups, (kind) => kind !== 'note' && kind !== 'marker');
  if (newest === null) return null;
  const exchange = newestGroup(groups, (kind) => kind === 'exchange');
  const isUnseen = exchange !== null && input.reason !== 'overflow' && groups.cutBeforeAt(exchange);
  if (isUnseen && groups.entriesAt(exchange).some((position) => bringsMedia(groups.table, position))) return exchange;
  return groups.kindAt(newest) === 'user' ? newest : groups.length;
}

function newestGroup(groups: GroupTable, fits: (kind: GroupKind) => boolean): number | null {
  for (let group = groups.length - 1; group >= 0; group -= 1) if (fits(groups.kindAt(group))) return group;
  return null;
}

function bringsMedia(table: OutlineTable, position: number): boolean {
  return table.kindAt(position) === 'tool_result' && table.showsMediaAt(position);
}

/** Where the marker stands that is appended with the plan; one without effect from a weaker form is taken over. */
function afterNewest(table: OutlineTable): number {
  const newest = table.length - 1;
  const sequence = table.sequenceAt(newest);
  return table.kindAt(newest) === 'compaction' ? sequence : sequence + 1;
}

function droppedMessages(state: PlanningState, end: number): readonly number[] {
  const { input, table } = state;
  const { summary } = input;
  const isCovered = summary !== null && summary.inPlace !== true;
  const dropped: number[] = [];
  for (
    let position = isCovered ? table.firstFrom(summary.coveredThroughSequence + 1) : 0;
    position < end;
    position += 1
  ) {
    const kind = table.kindAt(position);
    if (kind === 'note' || kind === 'compaction') continue;
    if (summary === null || !coveredAlready(state, position)) dropped.push(position);
  }
  return dropped;
}
