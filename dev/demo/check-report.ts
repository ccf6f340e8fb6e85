import { columnsOf } from './job.ts';
import type { Job } from './job.ts';

/** A cell that does not hold what the file holds. */
export interface WrongCell {
  readonly label: string;
  readonly column: string;
  readonly expected: string;
  /** `null`: the report has no such cell. */
  readonly found: string | null;
}

export interface ReportCheck {
  readonly right: number;
  readonly wrong: readonly WrongCell[];
  /** Items with more than one row. */
  readonly doubled: readonly string[];
}

/** Compares every cell of a report with the facts. @param report `null` when there is none */
export function checkReport(job: Job, report: string | null): ReportCheck {
  const rows = readTable(report ?? '', columnsOf(job));
  const wrong: WrongCell[] = [];
  let right = 0;
  for (const item of job.items) {
    const row = rows.get(normalize(item.label))?.[0];
    for (const { column, value } of item.facts) {
      const found = row?.get(column) ?? null;
      if (found !== null && normalize(found) === normalize(value)) right += 1;
      else wrong.push({ label: item.label, column, expected: value, found });
    }
  }
  const doubled = job.items.map((item) => item.label).filter((label) => (rows.get(normalize(label))?.length ?? 0) > 1);
  return { right, wrong, doubled };
}

type Row = ReadonlyMap<string, string>;

/** Rows of all tables by their first cell; columns by the names in the header, else by their order. */
function readTable(report: string, columns: readonly string[]): ReadonlyMap<string, readonly Row[]> {
  const rows = new Map<string, Row[]>();
  let header: readonly string[] = ['', ...columns];
  for (const line of report.split('\n')) {
    if (!line.trim().startsWith('|')) continue;
    const [label = '', ...rest] = cellsOf(line);
    if (/^:?-{2,}:?$/u.test(label)) continue;
    const names = rest.map((cell) => columnNamed(cell, columns));
    if (names.some((name) => name !== null)) {
      header = ['', ...names.map((name) => name ?? '')];
      continue;
    }
    const row = new Map(rest.flatMap((cell, index) => [[header[index + 1] ?? '', cell] as const]));
    rows.set(normalize(label), [...(rows.get(normalize(label)) ?? []), row]);
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/u, '').replace(/\|$/u, '');
  return inner.split(/(?<!\\)\|/u).map((cell) => cell.replaceAll('\\|', '|').trim());
}

function columnNamed(cell: string, columns: readonly string[]): string | null {
  const name = cell.toLowerCase().replace('license', 'licence');
  return columns.find((column) => column === name) ?? null;
}

/**
 * What two writings of the same value have in common: without Markdown around words, without
 * separators in numbers, white space as one space.
 */
export function normalize(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/\[([^\]]*)\](?:\([^)\s]*\)|\[[^\]]*\])/gu, '$1')
    .replaceAll(/[`*_"“”]/gu, '')
    .replaceAll(/(?<=\d),(?=\d{3})/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replace(/\.$/u, '');
}
