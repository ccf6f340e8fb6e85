import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FidelityFigures, PlantFigures } from '../fidelity/measure-fidelity.ts';

const PAGE = fileURLToPath(new URL('../../../docs/presets.md', import.meta.url));
const BEGIN = '<!-- written by `npm run bench -- memory --write-page`: begin -->';
const END = '<!-- written by `npm run bench -- memory --write-page`: end -->';

const HEADS = [
  'preset',
  'passes',
  'planted',
  'changed',
  'rules',
  'said rules in view',
  'user messages',
  'in view',
  'by recall',
  'originals by recall',
  'either',
  'old value',
  'emptied: in view',
  'emptied: either',
  'emptied: old value',
  'recall off: in view',
  'recall off: old value',
];

/** Puts the figures between the marks of `docs/presets.md`. @throws RangeError when the page has no such marks */
export async function writeFidelityTable(figures: readonly FidelityFigures[]): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before === -1 || after === -1) throw new RangeError(`${PAGE} does not hold the lines ${BEGIN} and ${END}`);
  await writeFile(PAGE, `${page.slice(0, before + BEGIN.length)}\n\n${fidelityTable(figures)}\n\n${page.slice(after)}`);
}

/** One row for each preset and number of compactions, aligned as the formatter aligns it. */
export function fidelityTable(figures: readonly FidelityFigures[]): string {
  const rows = [HEADS, ...figures.map(rowOf)];
  const widths = HEADS.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), rule, ...body.map(line)].join('\n');
}

function rowOf(figures: FidelityFigures): readonly string[] {
  const { preset, passes, asked, byKind, rules, userMessages, originals, withoutSummaries, withoutRecall } = figures;
  const share = (count: (of: PlantFigures) => number, of: PlantFigures = figures): string => percent(count(of), asked);
  return [
    `\`${preset}\``,
    String(passes),
    String(asked),
    String(figures.changed),
    percent(rules.inView, rules.asked),
    percent(byKind.rule.inView, byKind.rule.asked),
    percent(userMessages.inView, userMessages.asked),
    share(({ inView }) => inView),
    share(({ reachable }) => reachable),
    percent(originals.reachable, originals.asked),
    share(({ inViewOrReachable }) => inViewOrReachable),
    old(figures),
    share(({ inView }) => inView, withoutSummaries),
    share(({ inViewOrReachable }) => inViewOrReachable, withoutSummaries),
    old(withoutSummaries),
    share(({ inView }) => inView, withoutRecall),
    old(withoutRecall),
  ];
}

/** Of what was changed: nothing else has an old value. */
function old({ stale, changed }: PlantFigures): string {
  return percent(stale, changed);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${Math.round((part / whole) * 100)} %`;
}
