import type { CompactionForm } from './plan.ts';
import type { Rooms, Layout } from '../summary/summary-layout.ts';
import type { NoteSlot } from '../log/entry.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import { tokensOf } from './planning-state.ts';
import type { PlanningState } from './planning-state.ts';
import { LEDGER_LINE_TOKENS, ledgerSize } from '../summary/summary-ledger.ts';
import { measureSummary, summaryFraming } from '../summary/summary-message.ts';

export type SummaryForm = Extract<CompactionForm, 'summary' | 'shorter_summary' | 'extractive_summary'>;

/** However little room there is, a summary may take this. Tokens. */
export const SMALLEST_SUMMARY = 200;
/**
 * A shorter summary is asked for with half the answer, from requests of half the size: what a provider refused as too long,
 * because the estimate was too low for its text, must not be sent again.
 */
export const SHORTER_SHARE = 0.5;

/** What the user said stays whole as long as the rest keeps this share of its room. Below it, all give way alike. */
const LEAST_SHARE_BESIDE_USER = 0.5;

/**
 * A summary that is written anew in less room than the one before leaves out what only that one held. So long as it takes no more than
 * this share of the room, the tail yields instead.
 */
const LARGEST_SHARE_OF_SUMMARY = 0.7;
/** What has been done since the summary before takes this much more, as a share of it. */
const GROWTH_OF_SUMMARY = 0.25;

interface ScarceRoom {
  /** What the summary and the tail want, in tokens. */
  readonly others: number;
  readonly older: number;
  /** For all of them. */
  readonly room: number;
  /** For all of them when the summary would else say less than the one before. */
  readonly most: number;
  /** What the text of the summary before takes; 0: it is not written anew. */
  readonly earlier: number;
}

/** Rooms of a pass that has too little for all of them, in tokens. */
export function scarceRooms(rooms: Rooms, scarce: ScarceRoom): Rooms {
  const { others, older, most, earlier } = scarce;
  const even = evenlyScaled(rooms, scarce);
  const userIsWhole = even.userMessages === rooms.userMessages;
  const left = Math.max(0, userIsWhole ? most - older : most);
  const summary = Math.min(rooms.summary, earlier * (1 + GROWTH_OF_SUMMARY), left * LARGEST_SHARE_OF_SUMMARY);
  if (even.summary >= summary) return even;
  const yielding = Math.max(1, others - rooms.summary + (userIsWhole ? 0 : older));
  const rest = scaleRooms({ ...rooms, summary: 0 }, (left - summary) / yielding);
  return {
    summary,
    turnPrefix: Math.min(rest.turnPrefix, even.turnPrefix),
    tail: Math.min(rest.tail, even.tail),
    userMessages: userIsWhole ? rooms.userMessages : Math.min(rest.userMessages, even.userMessages),
  };
}

function evenlyScaled(rooms: Rooms, { others, older, room }: ScarceRoom): Rooms {
  const share = (room - older) / others;
  if (rooms.userMessages > 0 && share >= LEAST_SHARE_BESIDE_USER) {
    return { ...scaleRooms(rooms, share), userMessages: rooms.userMessages };
  }
  return scaleRooms(rooms, room / (others + older));
}

/** A text never gets less than a few words need. */
export function scaleRooms(rooms: Rooms, scale: number): Rooms {
  const text = (tokens: number): number => Math.max(tokens * scale, Math.min(tokens, SMALLEST_SUMMARY));
  return {
    summary: text(rooms.summary),
    turnPrefix: text(rooms.turnPrefix),
    tail: rooms.tail * scale,
    userMessages: rooms.userMessages * scale,
  };
}

/** Frame of the summary message with what the program lists in it, continuation note and the notes that stand after the summary. */
export function overheadTokens(state: PlanningState, form: SummaryForm): number {
  const frame = frameTokens(state, form);
  return frame + state.continuationTokens + noteTokens(state, carriedNotes(state, Infinity));
}

/** The words around a summary, and the list of results below it. */
export function frameTokens(state: PlanningState, form: SummaryForm): number {
  return framingTokens(state, form) + ledgerTokens(state);
}

function framingTokens(state: PlanningState, form: SummaryForm): number {
  const { policy } = state.input;
  const framing = summaryFraming(policy, form, idToOpen(state, state.table.length - 1));
  return tokensOf(state, measureSummary('', policy.summary.question, framing));
}

/** What the summary in force says takes, without what the program puts around it. Where no result is in the view, none is taken to be listed. */
export function earlierTextTokens(state: PlanningState, form: SummaryForm, { quotedTokens }: Layout): number {
  const ledger = hasResults(state.table) ? ledgerTokens(state) : 0;
  return Math.max(0, state.summaryTokens - framingTokens(state, form) - ledger - quotedTokens);
}

function hasResults(table: OutlineTable): boolean {
  for (let position = 0; position < table.length; position += 1) {
    if (table.kindAt(position) === 'tool_result') return true;
  }
  return false;
}

/** The entry that the words around a summary name, when the agent can open it and the summary has such words. */
export function idToOpen({ input, table }: PlanningState, position: number): string | null {
  return input.recall === true && input.policy.summary.question === null ? table.idAt(position) : null;
}

/** What the list of results may take; not more than there can be results. */
function ledgerTokens({ input, table, summaryTokens }: PlanningState): number {
  const size = ledgerSize(input.budget);
  // Those of earlier passes stand below the summary in force.
  if (summaryTokens > 0) return size;
  let tokens = 0;
  for (let position = 0; position < table.length && tokens < size; position += 1) {
    if (table.kindAt(position) === 'tool_result') tokens += LEDGER_LINE_TOKENS;
  }
  return Math.min(tokens, size);
}

/** The newest plan and memories before a position; they are carried over the cut. */
export function carriedNotes(state: PlanningState, before: number): readonly number[] {
  const newest = new Map<NoteSlot, number>();
  for (const note of state.notes) {
    const slot = state.table.slotAt(note);
    if (note >= before || slot === undefined || slot === 'continuation') continue;
    newest.set(slot, note);
  }
  return [...newest.values()];
}

export function noteTokens({ storedTokens }: PlanningState, notes: readonly number[]): number {
  return notes.reduce((sum, note) => sum + (storedTokens[note] ?? 0), 0);
}
