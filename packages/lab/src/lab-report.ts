import type { PresetFigures } from './lab-figures.ts';
import type { LabResult } from './run-lab.ts';
import {
  formatCost,
  formatCount,
  formatPercent,
  formatShortCount,
  plural,
} from 'holdfast/internal/cli/render/text/numbers.js';
import { importLines } from 'holdfast/internal/cli/render/lists/import-lines.js';
import { tableLines } from 'holdfast/internal/cli/render/text/table.js';
import type { Column, TableOptions } from 'holdfast/internal/cli/render/text/table.js';

const right = (title: string): Column => ({ title, align: 'right' });

const NUMBERS: readonly Column[] = [
  { title: 'preset' },
  ...['window', 'reserve', 'input budget', 'trigger', 'target', 'tail', 'user messages', 'summary'].map(right),
];

const SENT: readonly Column[] = [
  { title: 'preset' },
  ...['window', 'passes', 'highest fill', 'overflows', 'ended', 'summary calls', 'summary tokens', 'sent'].map(right),
  ...['cached', 'cost', 'no cache', 'orphans'].map(right),
];

const FACTS: readonly Column[] = [
  { title: 'preset' },
  ...['window', 'facts', 'in view', 'tail', 'user messages', 'summary', 'ledger', 'by recall', 'lost'].map(right),
  ...['in view, no summaries', 'lost, no recall'].map(right),
];

/** All tables of a lab run. */
export function labLines(result: LabResult, options: TableOptions): string[] {
  const { presets, refused } = result;
  return [
    ...result.files.flatMap(importLines),
    '',
    'Numbers in force, tokens',
    ...tableLines(NUMBERS, presets.map(numbersRow), options),
    '',
    'What was sent',
    ...tableLines(SENT, presets.map(sentRow), options),
    '',
    'Facts of dropped originals, and where they are at the end; where a pass lasts for a turn, at the end of the newest turn with one',
    ...tableLines(FACTS, presets.map(factsRow), options),
    ...refused.map(({ name, window, problem }) => `not run: ${name} at ${formatShortCount(window)}: ${problem}`),
    '',
    ...footnotes(result),
  ];
}

function numbersRow({ name, window, numbers }: PresetFigures): string[] {
  const { outputReserve, inputBudget, trigger, target, tail, userMessages, summaryOutput } = numbers;
  return [
    name,
    ...[window, outputReserve, inputBudget, trigger, target, tail, userMessages, summaryOutput].map(formatCount),
  ];
}

function sentRow(figures: PresetFigures): string[] {
  return [
    figures.name,
    formatShortCount(figures.window),
    formatCount(figures.passes),
    formatPercent(figures.maxFill, 1),
    formatCount(figures.overflows),
    formatCount(figures.exhausted),
    formatCount(figures.summaryCalls) + (figures.summaryFailures === 0 ? '' : ` (${figures.summaryFailures} failed)`),
    formatShortCount(figures.summaryTokens),
    formatShortCount(figures.tokensSent),
    formatPercent(figures.tokensCached, figures.tokensSent),
    formatCost(figures.cost),
    formatCost(figures.costWithoutCache),
    formatCount(figures.orphans),
  ];
}

function factsRow(figures: PresetFigures): string[] {
  const { facts, factsWhere, withoutSummaries, withoutRecall } = figures;
  return [
    figures.name,
    formatShortCount(figures.window),
    formatCount(facts),
    formatPercent(figures.factsInView, facts),
    ...[factsWhere.tail, factsWhere.userMessages, factsWhere.summary, factsWhere.ledger].map((count) =>
      formatPercent(count, facts),
    ),
    formatPercent(figures.factsByRecall, facts),
    formatPercent(figures.factsLost, facts),
    formatPercent(withoutSummaries.factsInView, facts),
    formatPercent(facts - withoutRecall.factsInView, facts),
  ];
}

function footnotes({ summarizers, pricedAs, seed, sessions }: LabResult): string[] {
  const models = [...new Set(Object.values(summarizers))].join(', ');
  return [
    `${plural(sessions, 'session')}; summaries by ${models}; prices of ${pricedAs.join(', ')}; facts drawn with seed ${seed}.`,
    'Tokens are estimates; every request is taken to find the one before in the prompt cache.',
  ];
}
