import { chooseCut } from './cut-point.ts';
import type { EntryOutline, NoteSlot } from './entry.ts';
import type { Group } from './groups.ts';
import { keptUserMessages } from './kept-user-messages.ts';
import { measureContent } from './measure.ts';
import type { CompactionForm } from './plan.ts';
import { shownMeasurements, tokensOf } from './planning-state.ts';
import type { Draft, DraftedPlan, PlanningState } from './planning-state.ts';
import { clearSupersededNotes } from './reduce.ts';
import { shrinkToFit } from './shrink-to-fit.ts';
import { summaryContent } from './summary-message.ts';
import { extractivePart, summaryParts } from './summary-parts.ts';

export type SummaryForm = Extract<CompactionForm, 'summary' | 'shorter_summary' | 'extractive_summary'>;

/** However little room there is, a summary may take this. Tokens. */
const SMALLEST_SUMMARY = 200;
/** What of the summary's room the model is asked to fill; the rest is for what the must-keep check appends. */
const MODEL_SHARE = 0.85;
const SHORTER_SHARE = 0.5;

interface Rooms {
  readonly summary: number;
  readonly tail: number;
  readonly userMessages: number;
}

/**
 * Drops everything before a cut and puts a summary in its place. `null` when there is nothing to drop.
 */
export function planSummary(state: PlanningState, form: SummaryForm, goal: number): DraftedPlan | null {
  const rooms = wantedRooms(state, form);
  const wide = layOut(state, rooms);
  if (wide === null) return null;
  const room = goal - state.fixedTokens - overheadTokens(state);
  // A tail that cannot be cut further is clipped afterwards; it must not eat up the other rooms.
  const wanted = rooms.summary + Math.min(wide.tailTokens, rooms.tail) + wide.userTokens;
  const scale = wanted <= room ? 1 : Math.max(0, room) / wanted;
  const fitted = scale === 1 ? rooms : scaleRooms(rooms, scale);
  const layout = scale === 1 ? wide : (layOut(state, fitted) ?? wide);
  return completePlan(state, { form, goal, layout, summaryLimit: Math.floor(fitted.summary) });
}

function wantedRooms(state: PlanningState, form: SummaryForm): Rooms {
  const { budget, summarizer } = state.input;
  const longest =
    form === 'extractive_summary' ? budget.summaryOutput : Math.min(budget.summaryOutput, summarizer.maximumOutput);
  return {
    summary: longest * (form === 'shorter_summary' ? SHORTER_SHARE : 1),
    tail: budget.tail,
    userMessages: budget.userMessages,
  };
}

function scaleRooms(rooms: Rooms, scale: number): Rooms {
  const summary = Math.max(rooms.summary * scale, Math.min(rooms.summary, SMALLEST_SUMMARY));
  return { summary, tail: rooms.tail * scale, userMessages: rooms.userMessages * scale };
}

interface Layout {
  readonly cut: Group;
  readonly keptGroups: readonly Group[];
  readonly tailTokens: number;
  readonly userEntries: readonly EntryOutline[];
  readonly userTokens: number;
}

function layOut(state: PlanningState, rooms: Rooms): Layout | null {
  const untouched: Draft = { operations: new Map(), tokens: state.tokens };
  const tokensOfEntry = (entry: EntryOutline): number => tokensOf(state, shownMeasurements(state, untouched, entry));
  const tokensOfGroup = (group: Group): number => group.entries.reduce((sum, entry) => sum + tokensOfEntry(entry), 0);
  const index = chooseCut({
    groups: state.groups,
    tokensOfGroup,
    tailBudget: rooms.tail,
    splitTurns: state.input.policy.keep.splitTurns,
  });
  const cut = index === null ? undefined : state.groups[index];
  if (index === null || cut === undefined) return null;
  const keptGroups = state.groups.slice(index);
  const users = keptUserMessages({
    candidates: state.input.entries.filter((entry) => entry.kind === 'user' && entry.sequence < cut.firstSequence),
    tokensOfEntry,
    budget: rooms.userMessages,
    newestIsKept: keptGroups.some((group) => group.kind === 'user'),
  });
  return {
    cut,
    keptGroups,
    tailTokens: keptGroups.reduce((sum, group) => sum + tokensOfGroup(group), 0),
    userEntries: users.entries,
    userTokens: users.tokens,
  };
}

/** Frame of the summary message, continuation note and the notes that stand after the summary. */
function overheadTokens(state: PlanningState): number {
  const frame = tokensOf(state, measureContent(summaryContent('')));
  return frame + state.continuationTokens + noteTokens(state, carriedNotes(state, Infinity));
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
  of: { form: SummaryForm; goal: number; layout: Layout; summaryLimit: number },
): DraftedPlan | null {
  const { layout } = of;
  const { input } = state;
  const cut = layout.cut.firstSequence;
  // Entries come in order of their sequences.
  const cutAt = firstFrom(input.entries, cut);
  const spoken = input.entries
    .slice(input.summary === null ? 0 : firstFrom(input.entries, input.summary.coveredThroughSequence + 1), cutAt)
    .filter((entry) => entry.kind !== 'note' && entry.kind !== 'compaction');
  const splitTurn = spoken.some((entry) => entry.turnId === layout.cut.turnId);
  const maximumOutput = Math.max(1, Math.floor(of.summaryLimit * MODEL_SHARE));
  if (spoken.length === 0 || !winsByDropping(state, layout, of.summaryLimit)) return null;
  const draft = draftAfterCut(state, layout, of.summaryLimit);
  const shownNotes = [...carriedNotes(state, cut), ...state.notes.filter((note) => note.sequence >= cut)];
  clearSupersededNotes(state, draft, shownNotes);
  const shown = [...layout.userEntries, ...layout.keptGroups.flatMap((group) => group.entries)];
  shrinkToFit(state, draft, { entries: shown, goal: of.goal });
  return {
    form: of.form,
    firstKeptSequence: cut,
    splitTurn,
    coveredThroughSequence: input.entries[cutAt - 1]?.sequence ?? null,
    keptUserEntryIds: layout.userEntries.map((entry) => entry.id),
    operations: [...draft.operations.values()],
    parts:
      of.form === 'extractive_summary'
        ? extractivePart(spoken, of.summaryLimit)
        : summaryParts(input, { dropped: spoken, splitTurnId: splitTurn ? layout.cut.turnId : null, maximumOutput }),
    summaryLimit: of.summaryLimit,
    continuation: state.continuation,
    tokensBefore: Math.ceil(state.tokens),
    tokensAfter: Math.ceil(draft.tokens),
  };
}

/** Whether what leaves the view is larger than the summary that comes; otherwise clipping does as well without a model. */
function winsByDropping(state: PlanningState, layout: Layout, summaryLimit: number): boolean {
  const kept = state.fixedTokens + layout.tailTokens + layout.userTokens;
  return state.tokens - kept > summaryLimit;
}

/** Position of the first entry from `sequence` on; their number when there is none. */
function firstFrom(entries: readonly EntryOutline[], sequence: number): number {
  const index = entries.findIndex((entry) => entry.sequence >= sequence);
  return index === -1 ? entries.length : index;
}

function draftAfterCut(state: PlanningState, layout: Layout, summaryLimit: number): Draft {
  const frame = tokensOf(state, measureContent(summaryContent('')));
  const notes = noteTokens(state, carriedNotes(state, layout.cut.firstSequence));
  const tokens =
    state.fixedTokens + frame + summaryLimit + notes + layout.userTokens + layout.tailTokens + state.continuationTokens;
  return { operations: new Map(), tokens };
}
