import { displayWidth, padEnd, padStart, truncate } from './text-width.ts';
import type { Style } from './style.ts';

export interface Column {
  readonly title: string;
  /** Default: left. */
  readonly align?: 'left' | 'right';
  /** Takes the columns that are left over, and is cut when too little is. One column of a table. */
  readonly flexible?: true;
}

export interface TableOptions {
  /** Columns of the terminal; `null` in a pipe. */
  readonly columns: number | null;
  readonly style: Style;
  /** Applied to a cell once it is cut and padded. */
  readonly paint?: (text: string, row: number, column: number) => string;
}

/** Least columns of the flexible one. */
const LEAST_FLEXIBLE = 10;
const GAP = '  ';

/** A table without lines, header dimmed, as wide as its content or the terminal. Cells hold one line. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string[] {
  const natural = columns.map(({ title }, column) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const widths = fitWidths(columns, natural, options.columns);
  const line = (cells: readonly string[], paint: (text: string, column: number) => string): string =>
    columns
      .map(({ align }, column) => {
        const width = widths[column] ?? 0;
        const text = truncate(cells[column] ?? '', width);
        return paint(align === 'right' ? padStart(text, width) : padEnd(text, width), column);
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    columns.map(({ title }) => title),
    options.style.dim,
  );
  return [head, ...rows.map((row, index) => line(row, (text, column) => options.paint?.(text, index, column) ?? text))];
}

function fitWidths(columns: readonly Column[], natural: readonly number[], available: number | null): number[] {
  if (available === null) return [...natural];
  const total = natural.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1);
  const excess = Math.max(0, total - available);
  return natural.map((width, column) =>
    columns[column]?.flexible === true ? Math.max(Math.min(width, LEAST_FLEXIBLE), width - excess) : width,
  );
}
