import type { EntryOutline } from './entry.ts';
import { measureContent } from './measure.ts';
import { characterCount, scaleMeasurements } from './measurement-arithmetic.ts';
import { isInsideTurn, tokensOf } from './planning-state.ts';
import type { Draft, DraftedPlan, PlanningState } from './planning-state.ts';
import { reduce } from './reduce.ts';
import { shrinkToFit } from './shrink-to-fit.ts';
import { summaryContent } from './summary-message.ts';
import { EXCERPT_CHARACTERS, coveredAlready } from './summary-reading.ts';
import { SHORTER_SHARE, SMALLEST_SUMMARY } from './summary-rooms.ts';
import type { SummaryForm } from './summary-rooms.ts';
import { extractivePart, summaryParts } from './summary-parts.ts';
import { summaryFraming } from './summary-shown.ts';

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
  const { input } = state;
  const summaryLimit = Math.floor(summaryRoom(state, form, goals.goal));
  const framing = summaryFraming(input.policy, form);
  const frame = tokensOf(state, measureContent(summaryContent('', framing)));
  const withoutOld = state.tokens - state.summaryTokens + state.continuationTokens;
  const draft: Draft = { operations: new Map(), tokens: withoutOld + frame + summaryLimit };
  reduce(state, draft, goals.goal);
  const { olderUserMessages, kept } = state.arrangement;
  const shrinkable = [...olderUserMessages, ...kept].filter((entry) => entry.id !== state.firstUserMessage?.id);
  if (draft.tokens > goals.limit) shrinkToFit(state, draft, { entries: shrinkable, goal: goals.goal });
  const changed = kept.filter((entry) => draft.operations.has(entry.id) && entry.kind !== 'note');
  const newest = input.entries.at(-1);
  const first = kept.find((entry) => entry.kind !== 'note') ?? kept[0];
  if (changed.length === 0 || newest === undefined || first === undefined) return null;
  const reading = readingOf(state, draft);
  const readable = entriesRead(state, draft, reading.earlier);
  if (readable.length === 0) return null;
  const maximumOutput = Math.max(1, Math.floor(summaryLimit * (1 - input.policy.summary.appendedShare)));
  const parts =
    form === 'extractive_summary'
      ? extractivePart(readable, summaryLimit)
      : summaryParts(input, { dropped: readable, turnStart: null, maximumOutput, turnPrefixOutput: maximumOutput });
  if (parts === null) return null;
  return {
    form,
    firstKeptSequence: input.summary?.firstKeptSequence ?? input.entries[0]?.sequence ?? first.sequence,
    opensWithMarker: false,
    keptFromMarker: false,
    droppedMessages: 0,
    splitTurn: false,
    coveredThroughSequence: newest.sequence,
    keptUserEntryIds: input.summary?.keptUserEntryIds ?? [],
    operations: [...draft.operations.values()],
    parts,
    summaryLimit,
    shown: {
      placement: input.policy.summary.placement ?? 'end',
      framing,
      afterSequence: newest.sequence,
    },
    inPlace: true,
    reading,
    targets: changed.length,
    entriesInView: state.entriesInView,
    continuation: state.continuation,
    insideTurn: isInsideTurn(input),
    turnIsOver: input.turnIsOver === true,
    tokensBefore: Math.ceil(state.tokens),
    tokensAfter: Math.ceil(draft.tokens),
  };
}

function summaryRoom(state: PlanningState, form: SummaryForm, goal: number): number {
  const { budget, summarizer } = state.input;
  const asked = budget.summaryOutput;
  const possible = form === 'extractive_summary' ? asked : Math.min(asked, summarizer.maximumOutput);
  const fitting = Math.max(SMALLEST_SUMMARY, (goal - state.fixedTokens) * SUMMARY_SHARE);
  return Math.min(possible, fitting) * (form === 'shorter_summary' ? SHORTER_SHARE : 1);
}

function readingOf(state: PlanningState, draft: Draft): NonNullable<DraftedPlan['reading']> {
  const after = state.input.summary?.coveredThroughSequence ?? 0;
  const earlier = state.arrangement.kept
    .filter((entry) => entry.sequence <= after && draft.operations.has(entry.id) && !coveredAlready(state, entry))
    .map((entry) => entry.sequence);
  return { after, earlier, excerptUnchanged: true };
}

/** Outlines of what the parts read, at the size at which they read it. */
function entriesRead(state: PlanningState, draft: Draft, earlier: readonly number[]): EntryOutline[] {
  const again = new Set(earlier);
  const after = state.input.summary?.coveredThroughSequence ?? 0;
  return state.arrangement.kept
    .filter((entry) => entry.kind !== 'note' && (entry.sequence > after || again.has(entry.sequence)))
    .map((entry) => (draft.operations.has(entry.id) ? entry : excerptOutline(entry)));
}

function excerptOutline(entry: EntryOutline): EntryOutline {
  const share = Math.min(1, EXCERPT_CHARACTERS / Math.max(1, characterCount(entry.measurements)));
  return share === 1 ? entry : { ...entry, measurements: scaleMeasurements(entry.measurements, share) };
}
