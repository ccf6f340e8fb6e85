import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runRawTurn, runTurn } from '../measured-turn.ts';
import type { MeasuredTurn } from '../measured-turn.ts';
import { summarize } from '../statistics.ts';

const TURNS = 20;
const STEPS = 15;

/** Steps per second with 20 turns at once, begin and end of each turn included. */
export async function measureThroughput(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const raw: number[] = [];
  const holdfast: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const both = [
      async () => raw.push(await stepsPerSecond(async () => runRawTurn(stack, STEPS))),
      async () => holdfast.push(await stepsPerSecond(async () => runTurn(stack, STEPS))),
    ];
    for (const run of round % 2 === 0 ? both : both.toReversed()) await run();
  }
  const figure = { benchmark: 'throughput', unit: 'steps/s' } as const;
  return [
    { ...figure, name: `${TURNS} turns at once, raw workflow`, ...summarize(raw) },
    { ...figure, name: `${TURNS} turns at once, Holdfast`, ...summarize(holdfast) },
    {
      ...figure,
      name: `${TURNS} turns at once, Holdfast / raw`,
      unit: '×',
      target: { atLeast: 0.6 },
      ...summarize(holdfast.map((rate, round) => rate / (raw[round] ?? rate))),
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
