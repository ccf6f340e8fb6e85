import type { NoteSlot } from '../log/entry.ts';
import type { OutlineTable } from '../log/outline-table.ts';
import { tokensOf } from './planning-state.ts';
import type { PlanningState } from './planning-state.ts';
import { LEDGER_LINE_TOKENS, ledgerSize } from '../summary/result-ledger.ts';
import type { Layout } from '../summary/summary-layout.ts';
import { measureSummary, presentationOf } from '../summary/summary-message.ts';
import type { SummaryForm } from './summary-rooms.ts';
import { summaryFraming } from '../summary/summary-shown.ts';

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
  return tokensOf(state, measureSummary('', presentationOf(policy), framing));
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
