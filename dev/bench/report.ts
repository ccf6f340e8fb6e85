import { allTargetsMet, meetsTarget } from './figures.ts';
import type { Figure, Target } from './figures.ts';
import type { Machine } from './machine.ts';

const HEADINGS = ['benchmark', 'figure', 'median', 'quartiles', 'unit', 'target', ''] as const;

/** Three significant digits below 100, whole numbers with separators above. */
function formatNumber(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

function formatTarget(target: Target | undefined): string {
  if (target === undefined) return '';
  return 'atMost' in target ? `≤ ${formatNumber(target.atMost)}` : `≥ ${formatNumber(target.atLeast)}`;
}

function cells(figure: Figure): string[] {
  const { benchmark, name, median, low, high, samples, unit, target } = figure;
  const met = meetsTarget(figure);
  return [
    benchmark,
    name,
    formatNumber(median),
    samples > 1 ? `${formatNumber(low)} – ${formatNumber(high)}` : '',
    unit,
    formatTarget(target),
    met === null ? '' : met ? 'met' : 'MISSED',
  ];
}

/** A table for people; a Markdown table too, so that it can be pasted into docs/measurements.md. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map(cells);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(HEADINGS), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

export function formatMachine({ processor, cores, memory, system, node, load }: Machine): string {
  return `${processor}, ${cores} cores, ${memory} GiB, ${system}, Node ${node}, load ${load}`;
}

export function toJson(
  figures: readonly Figure[],
  run: { readonly machine: Machine; readonly durable: boolean; readonly rounds: number; readonly seconds: number },
): object {
  return {
    ...run,
    figures: figures.map((figure) => ({ ...figure, met: meetsTarget(figure) })),
    p95: Object.fromEntries(figures.flatMap(({ p95Of, median }) => (p95Of === undefined ? [] : [[p95Of, median]]))),
    ok: allTargetsMet(figures),
  };
}
