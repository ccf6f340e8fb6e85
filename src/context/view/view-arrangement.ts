import type { EntryKind, EntryOutline, NoteSlot } from '../log/entry.ts';
import type { Operation, SummaryInForce, Budget, Calibration, WindowBreakdown, WindowFill } from '../plan/plan.ts';
import { groupEntries } from '../log/groups.ts';
import { outlineTable } from '../log/outline-table.ts';
import type { OutlineTable, Outlines } from '../log/outline-table.ts';
import type { Group } from '../log/groups.ts';
import { estimateTokens } from '../log/estimate.ts';
import { addMeasurements, NO_MEASUREMENTS, sumMeasurements } from '../log/measurements.ts';
import type { Measurements } from '../log/measurements.ts';

/** Which entries a view shows, and where; entries that it does not show are left out. */
export interface Arranged<Item> {
  /** The newest note of slot `rules`; goes into the system text. */
  readonly rules: Item | null;
  /** The newest plan and memories from before the cut. */
  readonly carriedNotes: readonly Item[];
  /** Older user messages, and groups that name active files: kept verbatim before the summary or after the notes, oldest first. */
  readonly olderUserMessages: readonly Item[];
  readonly kept: readonly Item[];
}

/** The newest note of each is carried over a cut. */
export const CARRIED_SLOTS: readonly NoteSlot[] = ['plan', 'memories'];

/**
 * Decides what is visible, for measuring, planning and projecting alike, by positions of a table. A note that is newer than
 * the cut stands where it was written, also when a still newer one of its slot follows: taking it
 * out at that moment would change the beginning of the request and lose the provider's cache. The
 * next compaction clears it.
 */
export function arrangePositions(
  table: OutlineTable,
  of: { readonly summary: SummaryInForce | null; readonly operations: OperationsInForce },
): Arranged<number> & { readonly keptNotes: readonly number[] } {
  const cut = of.summary?.firstKeptSequence ?? -Infinity;
  const keptSequences = new Set(of.summary?.keptSequences ?? []);
  const carried = new Map<NoteSlot, number>();
  const olderUserMessages: number[] = [];
  const kept: number[] = [];
  // All its room at once: a list that grows to 50,000 is copied a dozen times.
  kept.length = table.length;
  let count = 0;
  const keptNotes: number[] = [];
  let rules: number | null = null;
  for (let position = 0; position < table.length; position += 1) {
    const kind = table.kindAt(position);
    if (kind === 'compaction') continue;
    const sequence = table.sequenceAt(position);
    const isKept = sequence >= cut;
    if (kind === 'note') {
      const { slot } = table.at(position);
      if (of.operations.get(position)?.kind === 'clear') continue;
      if (slot === 'rules') rules = position;
      else if (isKept) keptNotes.push(position);
      else if (slot !== undefined) carried.set(slot, position);
    } else if (!isKept && keptSequences.has(sequence)) olderUserMessages.push(position);
    if (isKept && rules !== position) {
      kept[count] = position;
      count += 1;
    }
  }
  kept.length = count;
  const carriedNotes = CARRIED_SLOTS.flatMap((slot) => carried.get(slot) ?? []);
  return { rules, carriedNotes, olderUserMessages, kept, keptNotes };
}

/** All but the rules. In lists, because to copy 50,000 into one takes as long as to add them up. */
export function visiblePositions(arranged: Arranged<number>): readonly (readonly number[])[] {
  return [arranged.carriedNotes, arranged.olderUserMessages, arranged.kept];
}

export type OperationsInForce = ReadonlyMap<number, Operation>;

export function operationsByPosition(table: OutlineTable, operations: readonly Operation[]): OperationsInForce {
  const byPosition = new Map<number, Operation>();
  if (operations.length === 0) return byPosition;
  const byEntry = operationsByEntry(operations);
  for (let position = 0; position < table.length; position += 1) {
    const operation = byEntry.get(table.at(position).id);
    if (operation !== undefined) byPosition.set(position, operation);
  }
  return byPosition;
}

export function arrangeView<T extends EntryOutline>(input: {
  readonly entries: readonly T[];
  readonly summary: SummaryInForce | null;
  readonly operations: readonly Operation[];
}): Arranged<T> {
  const table = outlineTable(input.entries);
  const operations = operationsByPosition(table, input.operations);
  const arranged = arrangePositions(table, { summary: input.summary, operations });
  const entriesAt = (positions: readonly number[]): T[] =>
    positions.flatMap((position) => input.entries[position] ?? []);
  return {
    rules: arranged.rules === null ? null : (input.entries[arranged.rules] ?? null),
    carriedNotes: entriesAt(arranged.carriedNotes),
    olderUserMessages: entriesAt(arranged.olderUserMessages),
    kept: entriesAt(arranged.kept),
  };
}

/** The newest operation per entry; later ones in the list replace earlier ones. */
export function operationsByEntry(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  return new Map(operations.map((operation) => [operation.entryId, operation]));
}

export type ViewPart<T extends EntryOutline> = Group<T> | 'summary';

/**
 * The messages of a view in the order of the request, without the system text: for the projection, and for
 * whoever reckons which beginning two requests share. Carried notes stand before what is kept from the cut on.
 */
export function orderView<T extends EntryOutline>(
  { carriedNotes, olderUserMessages, kept }: Omit<Arranged<T>, 'rules'>,
  summary: SummaryInForce | null,
): ViewPart<T>[] {
  const isBefore = (entry: T | undefined): boolean =>
    entry !== undefined && entry.sequence <= (summary?.shown.afterSequence ?? 0);
  const before = groupEntries(olderUserMessages.filter(isBefore));
  const behind = groupEntries(olderUserMessages.filter((entry) => !isBefore(entry)));
  const groups = groupEntries(kept);
  const end = groups.findLastIndex(({ entries: [first] }) => isBefore(first)) + 1;
  const shown: 'summary'[] = summary === null ? [] : ['summary'];
  const notes = groupEntries(carriedNotes);
  if (end === 0) return [...before, ...shown, ...notes, ...behind, ...groups];
  return [...before, ...notes, ...behind, ...groups.slice(0, end), ...shown, ...groups.slice(end)];
}

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

type Kinds = Readonly<Record<keyof WindowFill, Measurements>>;

function measureByKind(view: MeasuredView): Kinds {
  const table = outlineTable(view.entries);
  const operations = operationsByPosition(table, view.operations);
  const arrangement = arrangePositions(table, { summary: view.summary, operations });
  const ofEntries = new Map<EntryKind, Measurements>();
  const of = (kind: EntryKind): Measurements => ofEntries.get(kind) ?? NO_MEASUREMENTS;
  const { rules } = arrangement;
  for (const position of [rules ?? [], ...visiblePositions(arrangement)].flat()) {
    const { kind, measurements } = table.at(position);
    ofEntries.set(kind, addMeasurements(of(kind), operations.get(position)?.measurements ?? measurements));
  }
  return {
    fixed: view.fixed,
    summary: addMeasurements(view.summary?.measurements ?? NO_MEASUREMENTS, of('branch_summary')),
    userMessages: of('user'),
    assistantMessages: of('assistant'),
    toolResults: of('tool_result'),
    notes: of('note'),
  };
}

/** The tokens of a request by kind of its content. */
export function fillByKind(view: MeasuredView, calibration: Calibration): WindowFill {
  const kinds = measureByKind(view);
  const tokens = (measurements: Measurements): number => estimateTokens(measurements, calibration);
  return {
    fixed: tokens(kinds.fixed),
    summary: tokens(kinds.summary),
    userMessages: tokens(kinds.userMessages),
    assistantMessages: tokens(kinds.assistantMessages),
    toolResults: tokens(kinds.toolResults),
    notes: tokens(kinds.notes),
  };
}

export function breakdownWindow(
  view: MeasuredView & { readonly calibration: Calibration; readonly budget: Budget },
): WindowBreakdown {
  return {
    ...fillByKind(view, view.calibration),
    total: estimateTokens(measureView(view), view.calibration),
    inputBudget: view.budget.inputBudget,
    window: view.budget.window,
  };
}
