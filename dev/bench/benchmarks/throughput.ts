import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runRawTurn, runTurn } from '../measured-turn.ts';
import type { MeasuredTurn } from '../measured-turn.ts';
import { TASK_QUEUES } from '../workers/settings.ts';
import { alternate, ratios, summarize } from '../statistics.ts';

const TURNS = 20;
const STEPS = 15;

/** Steps per second with 20 turns at once, begin and end of each turn included. */
export async function measureThroughput(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const rates = await alternate(rounds, {
    raw: async () => stepsPerSecond(async () => runRawTurn(stack, STEPS)),
    rawOnOneQueue: async () => stepsPerSecond(async () => runRawTurn(stack, STEPS, TASK_QUEUES.raw)),
    holdfast: async () => stepsPerSecond(async () => runTurn(stack, STEPS)),
  });
  const [raw, rawOnOneQueue, holdfast] = [rates('raw'), rates('rawOnOneQueue'), rates('holdfast')];
  const figure = { benchmark: 'throughput', unit: 'steps/s' } as const;
  return [
    { ...figure, name: `${TURNS} turns at once, raw workflow`, ...summarize(raw) },
    { ...figure, name: `${TURNS} turns at once, Holdfast`, ...summarize(holdfast) },
    {
      ...figure,
      name: `${TURNS} turns at once, Holdfast / raw`,
      unit: '×',
      target: { atLeast: 0.75 },
      ...ratios(holdfast, raw),
    },
    {
      ...figure,
      name: `${TURNS} turns at once, Holdfast / raw on one queue`,
      unit: '×',
      ...ratios(holdfast, rawOnOneQueue),
    },
  ];
}

/** Both kinds make one step more than `STEPS`, Holdfast's without a tool call; it is not counted for either. */
async function stepsPerSecond(runOne: () => Promise<MeasuredTurn>): Promise<number> {
  const turns = await Promise.all(Array.from({ length: TURNS }, runOne));
  const started = Math.min(...turns.map(({ startedAt }) => startedAt));
  const ended = Math.max(...turns.map(({ endedAt }) => endedAt));
  return (TURNS * STEPS * 1_000) / (ended - started);
}
