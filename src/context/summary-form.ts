import { chooseCut, turnStartBefore } from './cut-point.ts';
import type { EntryOutline, NoteSlot } from './entry.ts';
import type { Group } from './groups.ts';
import { firstWithinMessageCap, olderWithinMessageCap } from './message-cap.ts';
import type { Operation } from './plan.ts';
import { countedTokens, isInsideTurn, shownMeasurements, tokensOf } from './planning-state.ts';
import type { Draft, DraftedPlan, PlanningState } from './planning-state.ts';
import { olderActiveGroups, olderEntries } from './older-entries.ts';
import { capToolResults, clearSupersededNotes } from './reduce.ts';
import { shrinkToFit, stripAll } from './shrink-to-fit.ts';
import { flushPart } from './summary-flush.ts';
import { measureSummary, presentationOf } from './summary-message.ts';
import { coveredAlready } from './summary-reading.ts';
import { SHORTER_SHARE, SMALLEST_SUMMARY } from './summary-rooms.ts';
import type { SummaryForm } from './summary-rooms.ts';
import { extractivePart, summaryParts } from './summary-parts.ts';
import { quotedTokens } from './summary-quotes.ts';
import { summaryFraming, summaryShown } from './summary-shown.ts';

/** Tokens that each piece of the view may take. */
interface Rooms {
  readonly summary: number;
  /** Of a split turn whose beginning gets a text of its own. */
  readonly turnPrefix: number;
  readonly tail: number;
  readonly userMessages: number;
}

/**
 * Drops everything before a cut and puts a summary in its place. `null` when there is nothing to drop.
 */
export function planSummary(state: PlanningState, form: SummaryForm, goal: number): DraftedPlan | null {
  if (spokenMessages(state) < state.input.policy.keep.minimumMessages) return null;
  const rooms = wantedRooms(state, form);
  const capped = cappedDraft(state);
  const wide = layOut(state, rooms, capped);
  if (wide === null) return null;
  const room = goal - state.fixedTokens - overheadTokens(state, form) - wide.quotedTokens;
  // A tail that cannot be cut further is clipped afterwards; it must not eat up the other rooms.
  const wanted = summaryRoom(state, rooms, wide) + Math.min(wide.tailTokens, rooms.tail) + wide.userTokens;
  const scale = wanted <= room ? 1 : Math.max(0, room) / wanted;
  const fitted =
    scale === 1 ? rooms : state.isOverMessageCap ? besideKept(state, rooms, { wide, room }) : scaleRooms(rooms, scale);
  const layout = scale === 1 ? wide : (layOut(state, fitted, capped) ?? wide);
  return completePlan(state, { form, goal, layout, capped, rooms: fitted });
}

function spokenMessages({ arrangement }: PlanningState): number {
  return [...arrangement.olderUserMessages, ...arrangement.kept].filter(isMessage).length;
}

function isMessage(entry: EntryOutline): boolean {
  return entry.kind === 'user' || entry.kind === 'assistant' || entry.kind === 'tool_result';
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
  const hasHistory = layout.dropped.some((entry) => entry.sequence < (layout.turnStart ?? 0));
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
  const left = Math.max(0, room - wide.tailTokens - wide.userTokens);
  const { summary, turnPrefix } = scaleRooms(rooms, Math.min(1, left / summaryRoom(state, rooms, wide)));
  return { ...rooms, summary, turnPrefix };
}

interface Layout {
  /** Sequence of the first entry that stays; that of the marker when it opens the view. */
  readonly cut: number;
  readonly opensWithMarker: boolean;
  /** Messages that no summary covers yet and the cut drops, oldest first. */
  readonly dropped: readonly EntryOutline[];
  /** Opening message of the turn that the cut splits; `null` when it falls between turns. */
  readonly turnStart: number | null;
  readonly keptGroups: readonly Group[];
  readonly tailTokens: number;
  readonly userEntries: readonly EntryOutline[];
  readonly userTokens: number;
  /** What the quoted user messages take in the summary. */
  readonly quotedTokens: number;
}

function layOut(state: PlanningState, rooms: Rooms, capped: Draft): Layout | null {
  const { policy, budget, entries, turnIsOver } = state.input;
  const tokensOfEntry = (entry: EntryOutline): number => tokensOf(state, shownMeasurements(state, capped, entry));
  const index = policy.keep.pivot
    ? pivotIndex(state.groups)
    : chooseCut({
        groups: state.groups,
        tokensOfEntry: (entry) => Math.ceil(countedTokens(state, shownMeasurements(state, capped, entry))),
        tailBudget: rooms.tail,
        keep: policy.keep,
        notBefore: firstWithinMessageCap(state.groups, budget),
      });
  if (index === null) return null;
  const keptGroups = state.groups.slice(index);
  const cut = keptGroups[0]?.firstSequence ?? afterNewest(entries);
  const dropped = droppedMessages(state, cut);
  const tokensOfGroup = (group: Group): number => group.entries.reduce((sum, entry) => sum + tokensOfEntry(entry), 0);
  const wanted = olderEntries(state, {
    before: cut,
    tokensOfEntry,
    userBudget: rooms.userMessages,
    activeGroups: olderActiveGroups(state, { groups: state.groups.slice(0, index), tokensOfGroup }),
    newestIsKept: turnIsOver === true || keptGroups.some((group) => group.kind === 'user'),
  });
  const older = olderWithinMessageCap(wanted, budget);
  const tail = keptGroups.flatMap((group) => group.entries);
  return {
    cut,
    opensWithMarker: policy.keep.pivot,
    dropped,
    turnStart: keptGroups[0] === undefined ? null : turnStartBefore(dropped, keptGroups[0]),
    keptGroups,
    tailTokens: tail.reduce((sum, entry) => sum + tokensOfEntry(entry), 0),
    userEntries: older,
    userTokens: older.reduce((sum, entry) => sum + tokensOfEntry(entry), 0),
    quotedTokens: quotedTokens(state, cut),
  };
}

/** After everything; a user message that nobody has answered stays. */
function pivotIndex(groups: readonly Group[]): number | null {
  const newest = groups.findLastIndex((group) => group.kind !== 'note' && group.kind !== 'marker');
  if (newest === -1) return null;
  return groups[newest]?.kind === 'user' ? newest : groups.length;
}

/** Where the marker stands that is appended with the plan; one without effect from a weaker form is taken over. */
function afterNewest(entries: readonly EntryOutline[]): number {
  const newest = entries.at(-1);
  return newest?.kind === 'compaction' ? newest.sequence : (newest?.sequence ?? 0) + 1;
}

function droppedMessages(state: PlanningState, cut: number): readonly EntryOutline[] {
  const { input } = state;
  const { summary } = input;
  const isInPlace = summary?.inPlace === true;
  const from = summary === null || isInPlace ? 0 : firstFrom(input.entries, summary.coveredThroughSequence + 1);
  // Entries come in order of their sequences.
  return input.entries
    .slice(from, firstFrom(input.entries, cut))
    .filter((entry) => entry.kind !== 'note' && entry.kind !== 'compaction' && !coveredAlready(state, entry));
}

/** Frame of the summary message, continuation note and the notes that stand after the summary. */
function overheadTokens(state: PlanningState, form: SummaryForm): number {
  const frame = frameTokens(state, form);
  return frame + state.continuationTokens + noteTokens(state, carriedNotes(state, Infinity));
}

function frameTokens(state: PlanningState, form: SummaryForm): number {
  return tokensOf(
    state,
    measureSummary('', presentationOf(state.input.policy), summaryFraming(state.input.policy, form)),
  );
}

/** The newest plan and memories before a cut; they are carried over it. */
function carriedNotes(state: PlanningState, before: number): readonly EntryOutline[] {
  const newest = new Map<NoteSlot, EntryOutline>();
  for (const entry of state.notes) {
    if (entry.sequence >= before || entry.slot === undefined || entry.slot === 'continuation') continue;
    newest.set(entry.slot, entry);
  }
  return [...newest.values()];
}

function noteTokens(state: PlanningState, notes: readonly EntryOutline[]): number {
  return notes.reduce((sum, note) => sum + tokensOf(state, note.measurements), 0);
}

function completePlan(
  state: PlanningState,
  of: { form: SummaryForm; goal: number; layout: Layout; capped: Draft; rooms: Rooms },
): DraftedPlan | null {
  const { layout, rooms } = of;
  const { input } = state;
  const { cut, dropped, turnStart } = layout;
  const summaryLimit = Math.floor(summaryRoom(state, rooms, layout));
  if (dropped.length === 0 || !winsByDropping(state, layout, summaryLimit)) return null;
  const draft = draftAfterCut(state, { ...of, summaryLimit });
  const shownNotes = [...carriedNotes(state, cut), ...state.notes.filter((note) => note.sequence >= cut)];
  clearSupersededNotes(state, draft, shownNotes);
  const shown = [...layout.userEntries, ...layout.keptGroups.flatMap((group) => group.entries)];
  // What is sent again after an overflow must not be what overflowed (O28).
  if (input.policy.keep.pivot && input.reason === 'overflow') stripAll(state, draft, shown);
  shrinkToFit(state, draft, { entries: shown, goal: of.goal });
  const written = (room: number): number => Math.max(1, Math.floor(room * (1 - input.policy.summary.appendedShare)));
  const parts =
    of.form === 'extractive_summary'
      ? extractivePart(dropped, summaryLimit)
      : summaryParts(input, {
          dropped,
          turnStart,
          maximumOutput: written(rooms.summary),
          turnPrefixOutput: written(rooms.turnPrefix),
        });
  if (parts === null) return null;
  const how = summaryShown(input.policy, of.form, input.entries.at(-1)?.sequence ?? cut);
  const after = input.summary?.coveredThroughSequence ?? 0;
  const isInPlace = input.summary?.inPlace === true;
  return {
    form: of.form,
    firstKeptSequence: cut,
    opensWithMarker: layout.opensWithMarker,
    keptFromMarker: layout.keptGroups.length === 0,
    splitTurn: turnStart !== null,
    coveredThroughSequence: input.entries[firstFrom(input.entries, cut) - 1]?.sequence ?? null,
    droppedMessages: dropped.filter(isMessage).length,
    keptUserEntryIds: layout.userEntries.map((entry) => entry.id),
    operations: [...draft.operations.values()],
    parts: flushPart(state, parts),
    ...(how !== undefined && { shown: how }),
    ...(isInPlace && { reading: { after, earlier: sequencesUpTo(dropped, after), excerptUnchanged: false } }),
    quotedLimit: Math.ceil(layout.quotedTokens),
    targets: dropped.length,
    entriesInView: state.entriesInView,
    summaryLimit,
    continuation: state.continuation,
    insideTurn: isInsideTurn(input),
    turnIsOver: input.turnIsOver === true,
    tokensBefore: Math.ceil(state.tokens),
    tokensAfter: Math.ceil(draft.tokens),
  };
}

function sequencesUpTo(entries: readonly EntryOutline[], last: number): number[] {
  return entries.filter((entry) => entry.sequence <= last).map((entry) => entry.sequence);
}

/** Whether what leaves the view is larger than the summary that comes; otherwise clipping does as well without a model. */
function winsByDropping(state: PlanningState, layout: Layout, summaryLimit: number): boolean {
  const kept = state.fixedTokens + layout.tailTokens + layout.userTokens;
  return state.tokens - kept > summaryLimit + layout.quotedTokens;
}

/** Position of the first entry from `sequence` on; their number when there is none. */
function firstFrom(entries: readonly EntryOutline[], sequence: number): number {
  const index = entries.findIndex((entry) => entry.sequence >= sequence);
  return index === -1 ? entries.length : index;
}

function draftAfterCut(
  state: PlanningState,
  { form, layout, capped, summaryLimit }: { form: SummaryForm; layout: Layout; capped: Draft; summaryLimit: number },
): Draft {
  const notes = noteTokens(state, carriedNotes(state, layout.cut));
  const kept = [...layout.userEntries, ...layout.keptGroups.flatMap((group) => group.entries)];
  const operations = new Map<string, Operation>();
  for (const { id } of kept) {
    const operation = capped.operations.get(id);
    if (operation !== undefined) operations.set(id, operation);
  }
  const summary = frameTokens(state, form) + summaryLimit + layout.quotedTokens;
  const tokens = state.fixedTokens + summary + notes + layout.userTokens + layout.tailTokens + state.continuationTokens;
  return { operations, tokens };
}
