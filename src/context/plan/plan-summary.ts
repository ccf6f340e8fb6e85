import type { OutlineTable } from '../log/outline-table.ts';
import type { SummaryForm } from './plan.ts';
import { Draft, draftedPlan } from './planning-state.ts';
import type { DraftedPlan, Goals, PlanningState } from './planning-state.ts';
import { applyAlways, clearSupersededNotes, reduce, shrinkToFit } from './reduce.ts';
import { SMALLEST_SUMMARY } from '../policy/budget.ts';
import { shareOf, summaryParts } from './summary-parts.ts';
import {
  carriedNotes,
  frameTokens,
  idToOpen,
  lastBeforeSummary,
  layOut,
  ledgerTokens,
  scarceRooms,
} from './summary-layout.ts';
import type { Layout, Rooms } from './summary-layout.ts';
import { summaryFraming } from '../summary/summary-message.ts';

/** Drops everything before a cut and puts a summary in its place. `null` when there is nothing to drop. */
export function planSummary(state: PlanningState, form: SummaryForm, { goal, limit }: Goals): DraftedPlan | null {
  const { input } = state;
  const wanted = wantedRooms(state, form);
  const capped = cappedDraft(state);
  const wide = layOut(capped, wanted);
  if (wide === null) return null;
  const isManual = input.reason === 'manual';
  const framing = summaryFraming(input.policy, form, idToOpen(state, state.table.length - 1));
  const frame = frameTokens(state, framing) + ledgerTokens(state);
  const overhead = frame + state.continuationTokens + capped.sum(carriedNotes(state, Infinity));
  const spent = state.fixedTokens + overhead + wide.quotedTokens;
  const room = Math.max(0, goal - spent);
  const texts = summaryRoom(state, wanted, wide);
  // What the summary in force says takes, without what the program puts around it.
  const earlier = rewritesHistory(state, wide) ? Math.max(0, state.summaryTokens - frame - wide.quotedTokens) : 0;
  // A tail that cannot be cut further is clipped afterwards; it must not eat up the other rooms.
  const isEnough = texts + Math.min(wide.tailTokens, wanted.tail) + wide.olderTokens <= room;
  // What the user asked for in a small view aims low, but may leave what others may.
  const most = isManual ? Math.max(room, input.budget.target - spent) : room;
  const rooms = isEnough ? wanted : scarceRooms(wanted, { texts, older: wide.olderTokens, room, most, earlier });
  const layout = isEnough ? wide : (layOut(capped, rooms) ?? wide);
  const plan = completePlan(state, { form, goal, limit, layout, capped, rooms, frame });
  // Nothing is urgent in a pass that the user asks for: rather none than one which leaves out what the summary before says.
  const saysLess = isManual && input.form === undefined && plan !== null && plan.summaryLimit < earlier;
  return saysLess ? null : plan;
}

export function hasEnoughMessages({ input, table, arrangement }: PlanningState): boolean {
  const { minimumMessages } = input.policy.keep;
  if (minimumMessages === 0) return true;
  const isMessage = (position: number): boolean =>
    ['user', 'assistant', 'tool_result'].includes(table.kindAt(position));
  return [...arrangement.olderUserMessages, ...arrangement.kept].filter(isMessage).length >= minimumMessages;
}

function wantedRooms(state: PlanningState, form: SummaryForm): Rooms {
  const { summaryOutput, turnPrefixOutput, tail, userMessages } = state.input.budget;
  return {
    summary: longestText(state, form, summaryOutput),
    turnPrefix: longestText(state, form, turnPrefixOutput),
    tail,
    userMessages,
  };
}

/** Of the tokens asked for, what the model can write; the program writes as much as it is asked for. */
function longestText({ input }: PlanningState, form: SummaryForm, asked: number): number {
  const longest = form === 'extractive_summary' ? Infinity : input.summarizer.maximumOutput;
  return Math.min(asked, longest) * shareOf(form);
}

/** What the whole summary may take: a text for the history, one for the beginning of a split turn, or both. */
function summaryRoom(state: PlanningState, rooms: Rooms, layout: Layout): number {
  if (layout.turnStart === null) return rooms.summary;
  return rooms.turnPrefix + (rewritesHistory(state, layout) ? rooms.summary : state.summaryTokens);
}

/** Whether what the summary in force says is written anew, and not only the beginning of a split turn. */
function rewritesHistory({ table }: PlanningState, { turnStart, dropped }: Layout): boolean {
  if (turnStart === null) return true;
  const [oldest] = dropped;
  return oldest !== undefined && table.sequenceAt(oldest) < turnStart;
}

function cappedDraft(state: PlanningState): Draft {
  const draft = new Draft(state, state.tokens);
  applyAlways(draft);
  return draft;
}

function completePlan(
  state: PlanningState,
  of: { form: SummaryForm; goal: number; limit: number; layout: Layout; capped: Draft; rooms: Rooms; frame: number },
): DraftedPlan | null {
  const { layout, rooms } = of;
  const { input, table } = state;
  const { cut, from, dropped, turnStart } = layout;
  const summaryLimit = Math.floor(summaryRoom(state, rooms, layout));
  if (dropped.length === 0 || !winsByDropping(state, layout, summaryLimit)) return null;
  const draft = draftAfterCut(state, { ...of, summaryLimit });
  const shownNotes = [...carriedNotes(state, from), ...state.notes.filter((note) => note >= from)];
  clearSupersededNotes(draft, shownNotes);
  const shown = [...layout.older, ...layout.tail];
  // What is sent again after an overflow must not be what overflowed (O28).
  if (input.policy.keep.pivot && input.reason === 'overflow') for (const position of shown) draft.strip(position);
  // What the user asked for in a small view is a summary, not that words of theirs which fit are clipped.
  const goal = input.reason === 'manual' ? Math.max(of.goal, input.budget.target) : of.goal;
  shrinkToFit(draft, { positions: shown, goal, limit: Math.max(goal, of.limit) });
  const parts = summaryParts(state, of.form, { positions: dropped, turnStart, rooms, summaryLimit });
  if (parts === null) return null;
  const framing = summaryFraming(input.policy, of.form, idToOpen(state, dropped.at(-1) ?? 0));
  return draftedPlan(draft, of.form, {
    firstKeptSequence: cut,
    opensWithMarker: input.policy.keep.pivot,
    keptFromMarker: layout.tail.length === 0,
    coveredThroughSequence: from === 0 ? null : table.sequenceAt(from - 1),
    droppedMessages: countRemoved(table, layout),
    keptSequences: layout.older.map((position) => table.sequenceAt(position)),
    parts,
    shown: { framing, afterSequence: lastBeforeSummary(state, layout.older, cut) },
    quotedLimit: Math.ceil(layout.quotedTokens),
    messagesChanged: dropped.length,
    summaryLimit,
  });
}

/** What the summary reads leaves the view, but for what stays word for word beside it. */
function countRemoved(table: OutlineTable, { dropped, older }: Layout): number {
  const [first = Infinity] = dropped;
  const others = dropped.filter((position) => table.kindAt(position) === 'branch_summary');
  return dropped.length - others.length - older.filter((position) => position >= first).length;
}

/** Whether what leaves the view is larger than the summary that comes; otherwise clipping does as well without a model. */
function winsByDropping(state: PlanningState, layout: Layout, summaryLimit: number): boolean {
  const kept = state.fixedTokens + layout.tailTokens + layout.olderTokens;
  return state.tokens - kept > summaryLimit + layout.quotedTokens;
}

function draftAfterCut(
  state: PlanningState,
  { frame, layout, capped, summaryLimit }: { frame: number; layout: Layout; capped: Draft; summaryLimit: number },
): Draft {
  const notes = capped.sum(carriedNotes(state, layout.from));
  const summary = frame + summaryLimit + layout.quotedTokens;
  const shown = notes + layout.olderTokens + layout.tailTokens;
  const draft = new Draft(state, state.fixedTokens + summary + shown + state.continuationTokens);
  for (const position of [...layout.older, ...layout.tail]) {
    const operation = capped.operations.get(position);
    if (operation !== undefined) draft.operations.set(position, operation);
  }
  return draft;
}

/** A summary takes at most this share of what the pass aims for beyond what it cannot shrink. */
const SUMMARY_SHARE = 0.15;

/**
 * Shortens entries where they stand and writes a summary from the originals of all that the view shows; nothing is dropped,
 * so no cut is made. The summary takes over the one before it (D5, D6). What the reducers protect is
 * shortened only when the view would otherwise stay above the goal and its tolerance (R7).
 *
 * @returns `null` when nothing can be shortened
 */
export function planSummaryInPlace(state: PlanningState, form: SummaryForm, goals: Goals): DraftedPlan | null {
  const { input, table } = state;
  const fitting = Math.max(SMALLEST_SUMMARY, (goals.goal - state.fixedTokens) * SUMMARY_SHARE);
  const summaryLimit = Math.floor(longestText(state, form, Math.min(input.budget.summaryOutput, fitting)));
  const framing = summaryFraming(input.policy, form, null);
  const frame = frameTokens(state, framing);
  const withoutOld = state.tokens - state.summaryTokens + state.continuationTokens;
  const draft = new Draft(state, withoutOld + frame + summaryLimit);
  reduce(draft, goals.goal);
  const { olderUserMessages, kept } = state.arrangement;
  const shrinkable = [...olderUserMessages, ...kept].filter((position) => position !== state.firstUserMessage);
  if (draft.tokens > goals.limit) shrinkToFit(draft, { positions: shrinkable, ...goals });
  const changed = kept.filter((position) => draft.operations.has(position) && table.kindAt(position) !== 'note');
  if (changed.length === 0) return null;
  const newest = table.sequenceAt(table.length - 1);
  const parts = summaryParts(state, form, {
    positions: positionsRead(state),
    turnStart: null,
    rooms: { summary: summaryLimit, turnPrefix: 0 },
    summaryLimit,
  });
  if (parts === null) return null;
  const firstKeptSequence = input.summary?.firstKeptSequence ?? table.sequenceAt(0);
  return draftedPlan(draft, form, {
    firstKeptSequence,
    coveredThroughSequence: newest,
    parts,
    summaryLimit,
    shown: { framing, afterSequence: lastBeforeSummary(state, olderUserMessages, firstKeptSequence) },
    inPlace: true,
    messagesChanged: changed.length,
  });
}

/** What came after the summary in force; all of the view when nothing did. */
function positionsRead({ table, input, arrangement }: PlanningState): readonly number[] {
  const covered = input.summary?.coveredThroughSequence ?? 0;
  const spoken = arrangement.kept.filter((position) => table.kindAt(position) !== 'note');
  const newer = spoken.filter((position) => table.sequenceAt(position) > covered);
  return newer.length > 0 ? newer : spoken;
}
