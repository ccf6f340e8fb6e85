import { measureContent } from '../log/measure.ts';
import type { SummaryForm } from '../plan/plan.ts';
import { draftedPlan, tokensOf } from '../plan/planning-state.ts';
import type { Draft, DraftedPlan, PlanningState } from '../plan/planning-state.ts';
import { reduce } from '../plan/reduce.ts';
import { shrinkToFit } from '../plan/shrink-to-fit.ts';
import { summaryContent, summaryFraming } from './summary-message.ts';
import { coveredAlready, excerptsRead } from '../plan/summary-sizes.ts';
import { SMALLEST_SUMMARY } from './summary-layout.ts';
import { shareOf, summaryParts } from '../plan/summary-parts.ts';

/** A summary takes at most this share of what the pass aims for beyond what it cannot shrink. */
const SUMMARY_SHARE = 0.15;

/**
 * Shortens entries where they stand and writes a summary from their originals; nothing is dropped,
 * so no cut is made. The summary takes over the one before it (D5, D6). What the reducers protect is
 * shortened only when the view would otherwise stay above the goal and its tolerance (R7).
 *
 * @returns `null` when nothing can be shortened
 */
export function planSummaryInPlace(
  state: PlanningState,
  form: SummaryForm,
  goals: { readonly goal: number; readonly limit: number },
): DraftedPlan | null {
  const { input, table } = state;
  const summaryLimit = Math.floor(summaryRoom(state, form, goals.goal));
  const framing = summaryFraming(input.policy, form, null);
  const frame = tokensOf(state, measureContent(summaryContent('', framing)));
  const withoutOld = state.tokens - state.summaryTokens + state.continuationTokens;
  const draft: Draft = { operations: new Map(), tokens: withoutOld + frame + summaryLimit };
  reduce(state, draft, goals.goal);
  const { olderUserMessages, kept } = state.arrangement;
  const shrinkable = [...olderUserMessages, ...kept].filter((position) => position !== state.firstUserMessage);
  if (draft.tokens > goals.limit) shrinkToFit(state, draft, { positions: shrinkable, goal: goals.goal });
  const isMessage = (position: number): boolean => table.kindAt(position) !== 'note';
  const changed = kept.filter((position) => draft.operations.has(position) && isMessage(position));
  if (changed.length === 0) return null;
  const newest = table.sequenceAt(table.length - 1);
  const reading = readingOf(state, draft);
  const readable = positionsRead(state, reading.earlier);
  const parts = summaryParts(input, form, {
    read: excerptsRead(state, readable, (position) => draft.operations.has(position)),
    turnStart: null,
    maximumOutput: summaryLimit,
    turnPrefixOutput: summaryLimit,
    summaryLimit,
  });
  if (readable.length === 0 || parts === null) return null;
  return draftedPlan(state, form, draft, {
    firstKeptSequence: input.summary?.firstKeptSequence ?? table.sequenceAt(0),
    coveredThroughSequence: newest,
    parts,
    summaryLimit,
    shown: { placement: input.policy.summary.placement, framing, afterSequence: newest },
    inPlace: true,
    reading,
    targets: changed.length,
  });
}

function summaryRoom(state: PlanningState, form: SummaryForm, goal: number): number {
  const { budget, summarizer } = state.input;
  const asked = budget.summaryOutput;
  const possible = form === 'extractive_summary' ? asked : Math.min(asked, summarizer.maximumOutput);
  const fitting = Math.max(SMALLEST_SUMMARY, (goal - state.fixedTokens) * SUMMARY_SHARE);
  return Math.min(possible, fitting) * shareOf(form);
}

function readingOf(state: PlanningState, draft: Draft): NonNullable<DraftedPlan['reading']> {
  const { table, arrangement } = state;
  const after = state.input.summary?.coveredThroughSequence ?? 0;
  const earlier: number[] = [];
  for (const position of arrangement.kept) {
    if (table.sequenceAt(position) > after) break;
    if (draft.operations.has(position) && !coveredAlready(state, position)) earlier.push(table.sequenceAt(position));
  }
  return { after, earlier };
}

function positionsRead({ table, input, arrangement }: PlanningState, earlier: readonly number[]): number[] {
  const again = new Set(earlier);
  const after = input.summary?.coveredThroughSequence ?? 0;
  return Array.from(arrangement.kept).filter((position) => {
    const sequence = table.sequenceAt(position);
    return table.kindAt(position) !== 'note' && (sequence > after || again.has(sequence));
  });
}
