import { estimateTokens } from '../log/estimate.ts';
import type { Positions } from '../log/groups.ts';
import { addMeasurements, NO_MEASUREMENTS, sumMeasurements } from '../log/measurement-arithmetic.ts';
import type { Measurements } from '../log/measurements.ts';
import { outlineTable } from '../log/outline-table.ts';
import type { Outlines } from '../log/outline-table.ts';
import type { Budget, Calibration, Operation, SummaryInForce, WindowBreakdown } from '../plan/plan.ts';
import { arrangePositions, operationsByPosition } from './view-arrangement.ts';

export interface MeasuredView {
  readonly fixed: Measurements;
  readonly entries: Outlines;
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
  const table = outlineTable(view.entries);
  const operations = operationsByPosition(table, view.operations);
  const { rules, carriedNotes, firstUserMessage, olderUserMessages, kept } = arrangePositions(table, {
    summary: view.summary,
    operations,
  });
  const ofEntries = {
    user: NO_MEASUREMENTS,
    assistant: NO_MEASUREMENTS,
    tool_result: NO_MEASUREMENTS,
    branch_summary: NO_MEASUREMENTS,
    compaction: NO_MEASUREMENTS,
    note: NO_MEASUREMENTS,
  };
  const fixedNotes = [...(rules === null ? [] : [rules]), ...carriedNotes];
  const first = firstUserMessage === null ? [] : [firstUserMessage];
  const lists: readonly Positions[] = [fixedNotes, first, olderUserMessages, kept];
  for (const positions of lists) {
    for (const position of positions) {
      const kind = table.kindAt(position);
      const shown = operations.get(position)?.measurements ?? table.measurementsAt(position);
      ofEntries[kind] = addMeasurements(ofEntries[kind], shown);
    }
  }
  return {
    fixed: view.fixed,
    summary: addMeasurements(view.summary?.measurements ?? NO_MEASUREMENTS, ofEntries.branch_summary),
    userMessages: ofEntries.user,
    assistantMessages: ofEntries.assistant,
    toolResults: ofEntries.tool_result,
    notes: ofEntries.note,
  };
}

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
