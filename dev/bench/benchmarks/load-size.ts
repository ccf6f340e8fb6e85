import { remark } from '../../command-line.ts';
import type { BenchStack } from '../bench-stack.ts';
import { cloneConversations } from '../clone-conversations.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { fillConversation } from '../fill-conversation.ts';
import { runRawTurn, runTurn } from '../measured-turn.ts';
import { exactly, median, ratios, summarize } from '../statistics.ts';
import { judgedReads, readsDuring } from '../table-reads.ts';
import type { TableReads } from '../table-reads.ts';
import { startRawWorker } from '../warm-up.ts';

/** Steps of a conversation of 1,000 entries: the user's, two of each step, the last answer and the marker of its compaction. */
const FILLED_STEPS = 498;
const STEPS = 11;

/**
 * What the size of the database costs a step. Minutes pass between the empty and the full database, in which the machine may get
 * busier: each step is compared with one of the raw workflow, which has no database, in the same seconds.
 */
export async function measureSize(stack: BenchStack, { conversations, rounds }: BenchOptions): Promise<Figure[]> {
  const raw = await startRawWorker(stack);
  const { conversationId: template } = await runTurn(stack, 2);
  await measureRounds(stack, 1);
  const empty = await measureRounds(stack, rounds);
  const few = await rowsOfTurn(stack);
  remark(`load: filling ${conversations.toLocaleString('en-US')} conversations`);
  const { conversationId } = await fillConversation(stack.database, { template, steps: FILLED_STEPS });
  await cloneConversations(stack.database, { conversationId, copies: conversations - 1 }, (copies) => {
    if (copies % 500 === 0) remark(`load: ${copies.toLocaleString('en-US')} filled`);
  });
  await measureRounds(stack, 1);
  const full = await measureRounds(stack, rounds);
  const many = await rowsOfTurn(stack);
  await raw.stop();
  const figure = { benchmark: 'load', unit: 'ms' } as const;
  const name = `${conversations.toLocaleString('en-US')} conversations`;
  const relative = ({ steps, rawSteps }: Rounds): readonly number[] =>
    steps.map((step, round) => step / (rawSteps[round] ?? step));
  return [
    { ...figure, name: 'step, empty database', ...summarize(empty.steps) },
    { ...figure, name: `step, ${name}`, ...summarize(full.steps) },
    { ...figure, name: 'step, raw workflow, then and then', ...summarize([...empty.rawSteps, ...full.rawSteps]) },
    {
      ...figure,
      name: `step / raw, ${name} / empty`,
      unit: '×',
      target: { atMost: 1.2 },
      ...ratios(relative(full), relative(empty)),
    },
    {
      ...figure,
      name: 'rows of a turn read by whole-table scans',
      unit: 'rows',
      target: { atMost: 0 },
      ...exactly(many.scanned),
    },
    {
      ...figure,
      name: `rows of a turn read, ${name} / empty`,
      unit: '×',
      target: { atMost: 1.5 },
      ...exactly(many.read / few.read),
    },
    ...scannedTables(many.reads),
  ];
}

interface Rounds {
  /** Milliseconds. */
  readonly steps: readonly number[];
  readonly rawSteps: readonly number[];
}

async function measureRounds(stack: BenchStack, rounds: number): Promise<Rounds> {
  const steps: number[] = [];
  const rawSteps: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    steps.push(median((await runTurn(stack, STEPS)).steps));
    rawSteps.push(median((await runRawTurn(stack, STEPS)).steps));
  }
  return { steps, rawSteps };
}

interface TurnReads {
  readonly reads: readonly TableReads[];
  readonly scanned: number;
  readonly read: number;
}

async function rowsOfTurn(stack: BenchStack): Promise<TurnReads> {
  const reads = judgedReads(await readsDuring(stack.database, () => runTurn(stack, STEPS)));
  const scanned = reads.reduce((sum, each) => sum + each.scanned, 0);
  return { reads, scanned, read: scanned + reads.reduce((sum, each) => sum + each.fetched, 0) };
}

/** Which tables were read whole: nothing where the target is met. */
function scannedTables(reads: readonly TableReads[]): Figure[] {
  const figure = (table: string, scanned: number): Figure => ({
    benchmark: 'load',
    name: `scanned: ${table}`,
    unit: 'rows',
    ...exactly(scanned),
  });
  return reads.filter(({ scanned }) => scanned > 0).map(({ table, scanned }) => figure(table, scanned));
}
