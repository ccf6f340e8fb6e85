import type { EntryOutline } from './entry.ts';
import { estimateTokens } from './estimate.ts';
import { NO_MEASUREMENTS, sumMeasurements } from './measurement-arithmetic.ts';
import type { Measurements } from './measurements.ts';
import type { Budget, Calibration, Operation, SummaryInForce, WindowBreakdown } from './plan.ts';
import { arrangeView, operationsByEntry } from './view-arrangement.ts';

export interface MeasuredView {
  /** From `fixedMeasurements`. */
  readonly fixed: Measurements;
  readonly entries: readonly EntryOutline[];
  readonly summary: SummaryInForce | null;
  readonly operations: readonly Operation[];
}

/** What `projectView` would show, measured on outlines alone. */
export function measureView(view: MeasuredView): Measurements {
  const kinds = measureByKind(view);
  return sumMeasurements(Object.values(kinds));
}

type Kinds = Readonly<Record<Exclude<keyof WindowBreakdown, 'total' | 'inputBudget' | 'window'>, Measurements>>;

function measureByKind(view: MeasuredView): Kinds {
  const operations = operationsByEntry(view.operations);
  const arrangement = arrangeView({ entries: view.entries, summary: view.summary, operations });
  const first = arrangement.firstUserMessage === null ? [] : [arrangement.firstUserMessage];
  const shown = [...first, ...arrangement.olderUserMessages, ...arrangement.kept];
  const measure = (entries: readonly EntryOutline[]): Measurements =>
    sumMeasurements(entries.map((entry) => operations.get(entry.id)?.measurements ?? entry.measurements));
  const ofKind = (...kinds: readonly EntryOutline['kind'][]): Measurements =>
    measure(shown.filter((entry) => kinds.includes(entry.kind)));
  const notes = arrangement.kept.filter((entry) => entry.kind === 'note');
  return {
    fixed: view.fixed,
    summary: sumMeasurements([view.summary?.measurements ?? NO_MEASUREMENTS, ofKind('branch_summary')]),
    userMessages: ofKind('user'),
    assistantMessages: ofKind('assistant'),
    toolResults: ofKind('tool_result'),
    notes: measure([...(arrangement.rules === null ? [] : [arrangement.rules]), ...arrangement.carriedNotes, ...notes]),
  };
}

/** What fills the window, kind by kind. */
export function breakdownWindow(
  view: MeasuredView & { readonly calibration: Calibration; readonly budget: Budget },
): WindowBreakdown {
  const kinds = measureByKind(view);
  const tokens = (measurements: Measurements): number => estimateTokens(measurements, view.calibration);
  return {
    fixed: tokens(kinds.fixed),
    summary: tokens(kinds.summary),
    userMessages: tokens(kinds.userMessages),
    assistantMessages: tokens(kinds.assistantMessages),
    toolResults: tokens(kinds.toolResults),
    notes: tokens(kinds.notes),
    total: tokens(sumMeasurements(Object.values(kinds))),
    inputBudget: view.budget.inputBudget,
    window: view.budget.window,
  };
}
