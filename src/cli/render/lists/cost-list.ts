import type { CostGroup, CostRow } from '../../../store/conversations/costs.ts';
import { formatCost, formatCount } from '../text/numbers.ts';
import { safeLine } from '../text/safe-text.ts';
import type { Style } from '../text/style.ts';
import { tableLines } from '../text/table.ts';
import type { Column } from '../text/table.ts';

/** Place of the column of repeated calls. */
const REPEATED = 6;

export function costListLines(
  costs: readonly CostRow[],
  { by, columns, style }: { readonly by: CostGroup; readonly columns: number | null; readonly style: Style },
): string[] {
  const rows = costs.length === 1 ? costs : [...costs, sumOf(costs)];
  const isEmpty = rows.every(({ repeatedCalls }) => repeatedCalls === 0);
  const filled = <Cell>(cells: readonly Cell[]): readonly Cell[] => (isEmpty ? cells.toSpliced(REPEATED, 1) : cells);
  return tableLines(
    filled<Column>([
      { title: by, flexible: true },
      { title: 'calls', align: 'right' },
      { title: 'input', align: 'right' },
      { title: 'cache read', align: 'right' },
      { title: 'cache write', align: 'right' },
      { title: 'output', align: 'right' },
      { title: 'not kept', align: 'right' },
      { title: 'cost', align: 'right' },
    ]),
    rows.map((row) =>
      filled([
        safeLine(row.name),
        formatCount(row.calls),
        formatCount(row.input),
        formatCount(row.cacheRead),
        formatCount(row.cacheWrite),
        formatCount(row.output),
        row.repeatedCalls === 0 ? '' : `${formatCount(row.repeatedCalls)}, ${formatCost(row.repeatedCost)}`,
        costCell(row),
      ]),
    ),
    { columns, style },
  );
}

/** A sum with an unknown part is unknown; what is known is its least. */
function costCell({ cost, knownCost, callsOfUnknownCost }: CostRow): string {
  if (cost !== null) return formatCost(cost);
  const known = knownCost === 0 ? '' : `, at least ${formatCost(knownCost)}`;
  return `unknown for ${formatCount(callsOfUnknownCost)}${known}`;
}

function sumOf(costs: readonly CostRow[]): CostRow {
  const sum = (of: (row: CostRow) => number): number => costs.reduce((total, row) => total + of(row), 0);
  const unknown = sum((row) => row.callsOfUnknownCost);
  const knownCost = sum((row) => row.knownCost);
  return {
    name: 'all',
    calls: sum((row) => row.calls),
    input: sum((row) => row.input),
    cacheRead: sum((row) => row.cacheRead),
    cacheWrite: sum((row) => row.cacheWrite),
    output: sum((row) => row.output),
    cost: unknown > 0 ? null : knownCost,
    knownCost,
    callsOfUnknownCost: unknown,
    repeatedCalls: sum((row) => row.repeatedCalls),
    repeatedCost: sum((row) => row.repeatedCost),
  };
}
