import { estimateTokens } from '../log/estimate.ts';
import { renderFileLists, splitLists, ledgerSize, renderLedger, measureSummary } from './summary-message.ts';
import type { SummaryLedger } from './summary-message.ts';
import { measureView } from '../view/view-arrangement.ts';
import type { MeasuredView } from '../view/view-arrangement.ts';
import type { Measurements } from '../log/measurements.ts';
import type { Budget, Calibration, CompactionPlan, PlanPart, SummaryInForce } from '../plan/plan.ts';
import type { CompactionPolicy } from '../policy/policy.ts';
import { LINES, quoteTags } from '../log/frames.ts';
import { readSections, renderSections } from './sections.ts';
import { resolveAmount } from '../policy/budget.ts';
import { firstFitting } from '../plan/clip.ts';
import { shorten } from './transcript.ts';
import { textTokens } from '../log/measure.ts';

export interface WholeSummary {
  readonly text: string;
  readonly measurements: Measurements;
}

/** The texts of all parts in one, with the lists of files and results below it; `null` when the plan writes no summary. */
export function wholeSummary(of: {
  readonly parts: readonly { readonly kind: PlanPart['kind']; readonly text: string }[];
  readonly previousText: string | null;
  readonly files: SummaryLedger;
  readonly policy: CompactionPolicy;
  readonly budget: Budget;
  readonly plan: Pick<CompactionPlan, 'shown' | 'inPlace'>;
  readonly recall: boolean;
}): WholeSummary | null {
  const { parts, previousText, policy, plan } = of;
  if (parts.length === 0) return null;
  const composed = composeSummary(parts, previousText === null ? null : splitLists(previousText).written);
  const text = [composed, ...programLists(of)].filter((block) => block !== '').join('\n\n');
  return { text, measurements: shownMeasurements(text, policy, plan) };
}

/** What the model did not write: results that are only shortened in place are still in the view, each with its own id. */
function programLists({ files, policy, budget, plan, recall }: Parameters<typeof wholeSummary>[0]): string[] {
  const results = plan.inPlace === true ? [] : (files.results ?? []);
  return [
    renderLedger(results, { maximumTokens: ledgerSize(budget), recall }),
    policy.summary.fileLists === null ? '' : renderFileLists(files),
  ];
}

export interface FinishedView {
  readonly summary: WholeSummary | null;
  readonly after: Measurements;
  readonly tokensAfter: number;
  /** Tokens of the view before the summary was shortened to fit; `null` when it fitted. */
  readonly guardedFrom: number | null;
}

/** Measures the view that a finished plan leads to; shortens the summary if the policy guards against it. */
export function finishedView(
  whole: WholeSummary | null,
  of: {
    readonly before: MeasuredView;
    readonly plan: CompactionPlan;
    readonly compactionId: string;
    readonly policy: CompactionPolicy;
    readonly budget: Budget;
    readonly calibration: Calibration;
  },
): FinishedView {
  const { before, plan, compactionId, policy, budget, calibration } = of;
  const measured = (summary: WholeSummary | null, guardedFrom: number | null): FinishedView => {
    const after = viewAfterCompaction(before, plan, compactionId, summary?.measurements ?? null);
    return { summary, after, tokensAfter: estimateTokens(after, calibration), guardedFrom };
  };
  const finished = measured(whole, null);
  if (whole === null) return finished;
  const { tokensAfter } = finished;
  const text = guardedSummary(whole.text, { policy, budget, tokensAfter, calibration });
  if (text === whole.text) return finished;
  return measured({ text, measurements: shownMeasurements(text, policy, plan) }, tokensAfter);
}

/** Measurements of the view that a plan leads to, `fixed` included, before its marker and continuation note are appended. */
export function viewAfterCompaction(
  before: MeasuredView,
  plan: CompactionPlan,
  compactionId: string,
  newSummary: Measurements | null,
): Measurements {
  return measureView({
    ...before,
    summary: summaryAfter(before.summary, plan, compactionId, newSummary),
    operations: [...before.operations, ...plan.operations],
  });
}

function summaryAfter(
  before: SummaryInForce | null,
  plan: CompactionPlan,
  compactionId: string,
  measurements: Measurements | null,
): SummaryInForce | null {
  const { firstKeptSequence, coveredThroughSequence, keptSequences, shown } = plan;
  if (firstKeptSequence === null || coveredThroughSequence === null) return before;
  if (measurements === null || shown === undefined) return before;
  return { compactionId, firstKeptSequence, coveredThroughSequence, keptSequences, measurements, shown };
}

function shownMeasurements(text: string, policy: CompactionPolicy, plan: Pick<CompactionPlan, 'shown'>): Measurements {
  return measureSummary(text, policy.summary.question, plan.shown?.framing);
}

/**
 * The summary that a finished plan leaves, from the texts of its parts: the merged one if there is
 * a merge; otherwise one after another, the beginning of a split turn under a heading of its own.
 *
 * @param earlier the summary in force, when no part has read it: it stays as it is, before the new text (P16)
 */
export function composeSummary(
  all: readonly { readonly kind: PlanPart['kind']; readonly text: string }[],
  earlier: string | null = null,
): string {
  const parts = all.filter((part) => part.kind !== 'flush');
  const merged = parts.findLast((part) => part.kind === 'merge');
  const before = earlier === null || parts.some((part) => part.kind !== 'turn_prefix') ? [] : [earlier];
  const texts = parts.map((part, index) =>
    part.kind === 'turn_prefix' && before.length + index > 0 ? `${LINES.splitTurn}\n\n${part.text}` : part.text,
  );
  return quoteTags(merged?.text ?? [...before, ...texts].join('\n\n---\n\n'));
}

/** However full the window, a summary keeps this much. Tokens. */
const SMALLEST_GUARDED = 200;
/** A section below this is no longer worth shortening. Characters. */
const SHORTEST_SECTION = 80;

/**
 * The summary as the policy's guard lets it into the view; the text itself when the view is within the guard.
 *
 * @param of.tokensAfter tokens of the view with the whole text
 */
export function guardedSummary(
  text: string,
  of: {
    readonly policy: CompactionPolicy;
    readonly budget: Budget;
    readonly tokensAfter: number;
    readonly calibration: Calibration;
  },
): string {
  const { policy, budget, calibration } = of;
  const { overflowGuard } = policy.summary;
  if (overflowGuard === null) return text;
  const over = of.tokensAfter - resolveAmount(overflowGuard, budget);
  if (over <= 0) return text;
  return shortenSummary(text, { policy, calibration, maximumTokens: textTokens(text, calibration) - over });
}

/**
 * The summary, shortened step by step until it fits: the longest sections lose their ends first, so that every section keeps its
 * heading and its beginning. The program's lists below stay whole, or go when they leave no room: they are kept beside the summary.
 */
export function shortenSummary(
  text: string,
  of: { readonly policy: CompactionPolicy; readonly maximumTokens: number; readonly calibration: Calibration },
): string {
  const maximum = Math.max(SMALLEST_GUARDED, of.maximumTokens);
  const fits = (shown: string): boolean => textTokens(shown, of.calibration) <= maximum;
  if (fits(text)) return text;
  const { written, lists } = splitLists(text);
  const { headings } = of.policy.summary;
  const found = readSections(written, of.policy.summary);
  const shortened = (characters: number): string =>
    // A hook may write a text without headings.
    found.length === 0
      ? shorten(written, characters, 1)
      : renderSections(
          found.map((section) => ({ title: section.title, text: shorten(section.text, characters, 1) })),
          headings,
        );
  const below = [shortened(SHORTEST_SECTION), lists].join('\n\n');
  const kept = lists !== '' && fits(below) ? `\n\n${lists}` : '';
  const render = (characters: number): string => shortened(characters) + kept;
  return firstFitting({ from: written.length, least: SHORTEST_SECTION, render, fits });
}
