import { Command } from 'commander';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfiguration } from '../../src/config/load-configuration.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { generateSession, SESSION_KINDS } from './generated/generate-session.ts';
import type { PresetFigures } from '../../packages/lab/src/lab-figures.ts';
import { openLabStore } from '../../packages/lab/src/lab-store.ts';
import { runLab } from '../../packages/lab/src/run-lab.ts';
import { parseCommand } from '../command-line.ts';
import { pageTable, writeToPresetsPage } from './presets-page.ts';

/** `npm run presets`: replays generated sessions under every preset and writes the tables of `docs/preset-figures.md`. */

const SEED = 1;
const STEPS = 100;
const WINDOWS = [32_000, 64_000];

async function main(): Promise<void> {
  if (
    !parseCommand(
      new Command('presets').description('Writes the tables of docs/preset-figures.md.'),
      process.argv.slice(2),
    )
  )
    return;
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-presets-'));
  const store = await openLabStore(process.env);
  try {
    const files = await writeSessions(directory);
    const result = await runLab({
      files,
      windows: WINDOWS,
      policies: Object.values(PRESETS),
      model: null,
      prices: 'anthropic/claude-sonnet-5-5',
      seed: SEED,
      facts: 200,
      configuration: loadConfiguration({ directory, environment: {} }),
      openDatabase: () => Promise.resolve(store.database),
      onReplay: ({ session, preset, window }) =>
        process.stderr.write(`${session.slice(directory.length + 1)} under ${preset} at ${window}\n`),
    });
    await writeTables(result.presets);
  } finally {
    await store.close();
    await rm(directory, { recursive: true });
  }
}

async function writeSessions(directory: string): Promise<string[]> {
  const files: string[] = [];
  for (const kind of SESSION_KINDS) {
    const file = join(directory, `${kind}.jsonl`);
    const messages = generateSession(kind, SEED, STEPS).map((message) => JSON.stringify(message));
    await writeFile(file, messages.join('\n'));
    files.push(file);
  }
  return files;
}

async function writeTables(presets: readonly PresetFigures[]): Promise<void> {
  const tables = WINDOWS.map((window) =>
    windowTables(
      window,
      presets.filter((figures) => figures.window === window),
    ),
  );
  await writeToPresetsPage('npm run presets', tables.join('\n\n'));
}

const SENT_HEAD = [
  'preset',
  'compactions',
  'highest fill',
  'overflows',
  'orphans',
  'summary calls',
  'their tokens',
  'tokens sent',
  'cached',
  'cost',
  'without cache',
];

const FACTS_HEAD = [
  'preset',
  'facts in view',
  'tail',
  'user messages',
  'summary',
  'ledger',
  'by recall',
  'either',
  'lost',
  'in view, summaries emptied',
  'lost, no recall',
  'user messages whole',
  'results with an id',
];

function windowTables(window: number, presets: readonly PresetFigures[]): string {
  const title = `### Window of ${window / 1_000},000 tokens`;
  return [title, '', pageTable(SENT_HEAD, presets.map(sentRow)), '', pageTable(FACTS_HEAD, presets.map(factsRow))].join(
    '\n',
  );
}

function sentRow(figures: PresetFigures): string[] {
  return [
    `\`${figures.name}\``,
    String(figures.passes),
    percent(figures.maxFill),
    String(figures.overflows),
    String(figures.orphans),
    String(figures.summaryCalls),
    thousands(figures.summaryTokens),
    thousands(figures.tokensSent),
    percent(figures.tokensCached / figures.tokensSent),
    dollars(figures.cost),
    dollars(figures.costWithoutCache),
  ];
}

function factsRow(figures: PresetFigures): string[] {
  const share = (count: number): string => percent(count / Math.max(1, figures.facts));
  const { tail, userMessages, summary, ledger } = figures.factsWhere;
  return [
    `\`${figures.name}\``,
    share(figures.factsInView),
    ...[tail, userMessages, summary, ledger].map(share),
    share(figures.factsByRecall),
    share(figures.factsInView + figures.factsByRecall),
    share(figures.factsLost),
    share(figures.withoutSummaries.factsInView),
    share(figures.facts - figures.withoutRecall.factsInView),
    part(figures.userMessages.whole, figures.userMessages.all),
    part(figures.leftResults.named, figures.leftResults.all),
  ];
}

function part(some: number, all: number): string {
  return all === 0 ? '–' : percent(some / all);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function thousands(tokens: number): string {
  return `${Math.round(tokens / 1_000).toLocaleString('en-US')}k`;
}

function dollars(amount: number | null): string {
  return amount === null ? 'unknown' : `$${amount.toFixed(2)}`;
}

await main();
