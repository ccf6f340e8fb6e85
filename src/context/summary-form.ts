import type { NoteSlot } from './entry.ts';
import type { OutlineTable } from './outline-table.ts';
import type { Operation, PlanPart } from './plan.ts';
import { tokensOf } from './planning-state.ts';
import type { Draft, DraftedPlan, PlanningState } from './planning-state.ts';
import { capToolResults, clearSupersededNotes } from './reduce.ts';
import { LEDGER_LINE_TOKENS, ledgerSize } from './result-ledger.ts';
import { shrinkToFit, stripAll } from './shrink-to-fit.ts';
import { flushPart } from './summary-flush.ts';
import { measureSummary, presentationOf } from './summary-message.ts';
import { SHORTER_SHARE, SMALLEST_SUMMARY } from './summary-rooms.ts';
import type { SummaryForm } from './summary-rooms.ts';
import { layOut } from './summary-layout.ts';
import type { Layout, Rooms } from './summary-layout.ts';
import { extractivePart, summaryParts } from './summary-parts.ts';
import { originalsRead } from './summary-sizes.ts';
import { summaryFraming, summaryShown } from './summary-shown.ts';

/**
 * Drops everything before a cut and puts a summary in its place. `null` when there is nothing to drop.
 */
export function planSummary(state: PlanningState, form: SummaryForm, goal: number): DraftedPlan | null {
  if (!hasEnoughMessages(state)) return null;
  const rooms = wantedRooms(state, form);
  const capped = cappedDraft(state);
  const wide = layOut(state, rooms, capped);
  if (wide === null) return null;
  const room = goal - state.fixedTokens - overheadTokens(state, form) - wide.quotedTokens;
  // A tail that cannot be cut further is clipped afterwards; it must not eat up the other rooms.
  const others = summaryRoom(state, rooms, wide) + Math.min(wide.tailTokens, rooms.tail);
  const isTight = others + wide.olderTokens > room;
  const fitted = !isTight
    ? rooms
    : state.isOverMessageCap
      ? besideKept(state, rooms, { wide, room })
      : scaledRooms(rooms, { others, older: wide.olderTokens, room: Math.max(0, room) });
  const layout = isTight ? (layOut(state, fitted, capped) ?? wide) : wide;
  return completePlan(state, { form, goal, layout, capped, rooms: fitted });
}

/** Whether the view has the messages that a summary is worth for. */
function hasEnoughMessages({ input, table, arrangement }: PlanningState): boolean {
  let missing = input.policy.keep.minimumMessages;
  for (const positions of [arrangement.olderUserMessages, arrangement.kept]) {
    for (let place = 0; place < positions.length && missing > 0; place += 1) {
      if (isMessage(table, positions[place] ?? 0)) missing -= 1;
    }
  }
  return missing <= 0;
}

function isMessage(table: OutlineTable, position: number): boolean {
  const kind = table.kindAt(position);
  return kind === 'user' || kind === 'assistant' || kind === 'tool_result';
}

function wantedRooms(state: PlanningState, form: SummaryForm): Rooms {
  const { budget, summarizer } = state.input;
  const longest = form === 'extractive_summary' ? Infinity : summarizer.maximumOutput;
  const share = form === 'shorter_summary' ? SHORTER_SHARE : 1;
  return {
    summary: Math.min(budget.summaryOutput, longest) * share,
    turnPrefix: Math.min(budget.turnPrefixOutput, longest) * share,
    tail: budget.tail,
    userMessages: budget.userMessages,
  };
}

/** What the whole summary may take: a text for the history, one for the beginning of a split turn, or both. */
function summaryRoom(state: PlanningState, rooms: Rooms, layout: Layout): number {
  if (layout.turnStart === null || state.input.policy.summary.splitTurn === 'together') return rooms.summary;
  const [oldest] = layout.dropped;
  const hasHistory = oldest !== undefined && state.table.sequenceAt(oldest) < layout.turnStart;
  return rooms.turnPrefix + (hasHistory ? rooms.summary : state.summaryTokens);
}

/** Results beyond the policy's caps are shortened whatever is kept. */
function cappedDraft(state: PlanningState): Draft {
  const draft: Draft = { operations: new Map(), tokens: state.tokens };
  for (const reducer of state.input.policy.reduce) {
    if (reducer.kind === 'cap_tool_results') capToolResults(state, draft, reducer);
  }
  return draft;
}

/** What the user said stays whole as long as the rest keeps this share of its room. Below it, all give way alike. */
const LEAST_SHARE_BESIDE_USER = 0.5;

/** Rooms of a pass that has too little for all of them, in tokens. */
function scaledRooms(
  rooms: Rooms,
  { others, older, room }: { readonly others: number; readonly older: number; readonly room: number },
): Rooms {
  const share = (room - older) / others;
  if (rooms.userMessages > 0 && share >= LEAST_SHARE_BESIDE_USER) {
    return { ...scaleRooms(rooms, share), userMessages: rooms.userMessages };
  }
  return scaleRooms(rooms, room / (others + older));
}

function scaleRooms(rooms: Rooms, scale: number): Rooms {
  const text = (tokens: number): number => Math.max(tokens * scale, Math.min(tokens, SMALLEST_SUMMARY));
  return {
    summary: text(rooms.summary),
    turnPrefix: text(rooms.turnPrefix),
    tail: rooms.tail * scale,
    userMessages: rooms.userMessages * scale,
  };
}

/** Where messages are dropped for their number, what stays is small: the summary alone yields. */
function besideKept(state: PlanningState, rooms: Rooms, { wide, room }: { wide: Layout; room: number }): Rooms {
  const left = Math.max(0, room - wide.tailTokens - wide.olderTokens);
  const { summary, turnPrefix } = scaleRooms(rooms, Math.min(1, left / summaryRoom(state, rooms, wide)));
  return { ...rooms, summary, turnPrefix };
}

/** Frame of the summary message with what the program lists in it, continuation note and the notes that stand after the summary. */
function overheadTokens(state: PlanningState, form: SummaryForm): number {
  const frame = frameTokens(state, form);
  return frame + state.continuationTokens + noteTokens(state, carriedNotes(state, Infinity));
}

function frameTokens(state: PlanningState, form: SummaryForm): number {
  const { policy } = state.input;
  const framing = summaryFraming(policy, form, idToOpen(state, state.table.length - 1));
  return tokensOf(state, measureSummary('', presentationOf(policy), framing)) + ledgerTokens(state);
}

/** The entry that the words around a summary name, when the agent can open it and the summary has such words. */
function idToOpen({ input, table }: PlanningState, position: number): string | null {
  return input.recall === true && input.policy.summary.question === null ? table.idAt(position) : null;
}

/** What the list of results may take; not more than there can be results. */
function ledgerTokens({ input, table, summaryTokens }: PlanningState): number {
  const size = ledgerSize(input.policy, input.budget);
  // Those of earlier passes stand below the summary in force.
  if (summaryTokens > 0) return size;
  let tokens = 0;
  for (let position = 0; position < table.length && tokens < size; position += 1) {
    if (table.kindAt(position) === 'tool_result') tokens += LEDGER_LINE_TOKENS;
  }
  return Math.min(tokens, size);
}

/** The newest plan and memories before a position; they are carried over the cut. */
function carriedNotes(state: PlanningState, before: number): readonly number[] {
  const newest = new Map<NoteSlot, number>();
  for (const note of state.notes) {
    const slot = state.table.slotAt(note);
    if (note >= before || slot === undefined || slot === 'continuation') continue;
    newest.set(slot, note);
  }
  return [...newest.values()];
}

function noteTokens({ storedTokens }: PlanningState, notes: readonly number[]): number {
  return notes.reduce((sum, note) => sum + (storedTokens[note] ?? 0), 0);
}

function completePlan(
  state: PlanningState,
  of: { form: SummaryForm; goal: number; layout: Layout; capped: Draft; rooms: Rooms },
): DraftedPlan | null {
  const { layout, rooms } = of;
  const { input, table } = state;
  const { cut, from, dropped, turnStart } = layout;
  const summaryLimit = Math.floor(summaryRoom(state, rooms, layout));
  if (dropped.length === 0 || !winsByDropping(state, layout, summaryLimit)) return null;
  const draft = draftAfterCut(state, { ...of, summaryLimit });
  const shownNotes = [...carriedNotes(state, from), ...state.notes.filter((note) => note >= from)];
  clearSupersededNotes(state, draft, shownNotes);
  const shown = [...layout.older, ...layout.tail];
  // What is sent again after an overflow must not be what overflowed (O28).
  if (input.policy.keep.pivot && input.reason === 'overflow') stripAll(state, draft, shown);
  // What the user asked for in a small view is a summary, not that words of theirs which fit are clipped.
  const goal = input.reason === 'manual' ? Math.max(of.goal, input.budget.target) : of.goal;
  shrinkToFit(state, draft, { positions: shown, goal });
  const parts = partsOf(state, of, summaryLimit);
  if (parts === null) return null;
  const how = summaryShown(input.policy, {
    form: of.form,
    afterSequence: table.sequenceAt(table.length - 1),
    newestEntryId: idToOpen(state, dropped.at(-1) ?? 0),
  });
  const after = input.summary?.coveredThroughSequence ?? 0;
  const isInPlace = input.summary?.inPlace === true;
  return {
    form: of.form,
    firstKeptSequence: cut,
    opensWithMarker: input.policy.keep.pivot,
    keptFromMarker: layout.tail.length === 0,
    splitTurn: turnStart !== null,
    coveredThroughSequence: from === 0 ? null : table.sequenceAt(from - 1),
    droppedMessages: countRemoved(table, layout),
    keptUserEntryIds: layout.older.map((position) => table.idAt(position)),
    operations: [...draft.operations.values()],
    parts: flushPart(state, parts),
    ...(how !== undefined && { shown: how }),
    ...(isInPlace && {
      reading: {
        after,
        earlier: sequencesOf(table, dropped).filter((sequence) => sequence <= after),
        excerptUnchanged: false,
      },
    }),
    quotedLimit: Math.ceil(layout.quotedTokens),
    targets: dropped.length,
    entriesInView: state.entriesInView,
    summaryLimit,
    continuation: state.continuation,
    insideTurn: state.insideTurn,
    turnIsOver: input.turnIsOver === true,
    tokensBefore: Math.ceil(state.tokens),
    tokensAfter: Math.ceil(draft.tokens),
  };
}

function partsOf(
  state: PlanningState,
  { form, layout, rooms }: { form: SummaryForm; layout: Layout; rooms: Rooms },
  summaryLimit: number,
): PlanPart[] | null {
  const { input, table } = state;
  if (form === 'extractive_summary') return extractivePart(table, layout.dropped, summaryLimit);
  const written = (room: number): number => Math.max(1, Math.floor(room * (1 - input.policy.summary.appendedShare)));
  return summaryParts(input, {
    read: originalsRead(state, layout.dropped),
    turnStart: layout.turnStart,
    maximumOutput: written(rooms.summary),
    turnPrefixOutput: written(rooms.turnPrefix),
    inputShare: form === 'shorter_summary' ? SHORTER_SHARE : 1,
  });
}

function sequencesOf(table: OutlineTable, positions: readonly number[]): number[] {
  return positions.map((position) => table.sequenceAt(position));
}

/** What the summary reads leaves the view, but for what stays word for word beside it. */
function countRemoved(table: OutlineTable, { dropped, older }: Layout): number {
  let count = 0;
  // Both are in order.
  let next = 0;
  for (const position of dropped) {
    while ((older[next] ?? Infinity) < position) next += 1;
    if (older[next] !== position && isMessage(table, position)) count += 1;
  }
  return count;
}

/** Whether what leaves the view is larger than the summary that comes; otherwise clipping does as well without a model. */
function winsByDropping(state: PlanningState, layout: Layout, summaryLimit: number): boolean {
  const kept = state.fixedTokens + layout.tailTokens + layout.olderTokens;
  return state.tokens - kept > summaryLimit + layout.quotedTokens;
}

function draftAfterCut(
  state: PlanningState,
  { form, layout, capped, summaryLimit }: { form: SummaryForm; layout: Layout; capped: Draft; summaryLimit: number },
): Draft {
  const notes = noteTokens(state, carriedNotes(state, layout.from));
  const operations = new Map<number, Operation>();
  for (const position of [...layout.older, ...layout.tail]) {
    const operation = capped.operations.get(position);
    if (operation !== undefined) operations.set(position, operation);
  }
  const summary = frameTokens(state, form) + summaryLimit + layout.quotedTokens;
  const tokens =
    state.fixedTokens + summary + notes + layout.olderTokens + layout.tailTokens + state.continuationTokens;
  return { operations, tokens };
}
