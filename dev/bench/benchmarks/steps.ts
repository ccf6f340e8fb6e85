import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runRawTurn, runTurn } from '../measured-turn.ts';
import { RAW_WORK_QUEUE, TASK_QUEUES } from '../workers/settings.ts';
import { median, summarize } from '../statistics.ts';

const STEPS = 30;

interface RawSteps {
  readonly body: number;
  readonly overhead: number;
}

/**
 * Overhead of a step above its bodies, Holdfast's over the raw workflow's. The bodies are timed in the raw
 * workflow and taken off both, so what Holdfast adds around the HTTP call counts against it. Medians within
 * a turn, since one hiccup of the machine is no property of either; a ratio for each round of turns, which follow each other.
 */
export async function measureSteps(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const holdfast: number[] = [];
  const raw: RawSteps[] = [];
  const rawOnOneQueue: RawSteps[] = [];
  const turns = [
    async () => void holdfast.push(median((await runTurn(stack, STEPS)).steps)),
    async () => void raw.push(await rawSteps(stack, RAW_WORK_QUEUE)),
    async () => void rawOnOneQueue.push(await rawSteps(stack, TASK_QUEUES.raw)),
  ];
  for (let round = 0; round < rounds; round += 1) {
    // A B C, C B A, …: what warms up or wears off on the way meets all.
    for (const run of round % 2 === 0 ? turns : turns.toReversed()) await run();
  }
  const overheads = holdfast.map((step, round) => step - (raw[round]?.body ?? 0));
  const over = (other: readonly RawSteps[]) =>
    summarize(overheads.map((overhead, round) => overhead / (other[round]?.overhead ?? 1)));
  const figure = { benchmark: 'steps', unit: 'ms' } as const;
  return [
    { ...figure, name: 'bodies of a step', ...summarize(raw.map(({ body }) => body)) },
    { ...figure, name: 'overhead, raw workflow', ...summarize(raw.map(({ overhead }) => overhead)) },
    { ...figure, name: 'overhead, Holdfast', ...summarize(overheads) },
    { ...figure, name: 'overhead, Holdfast / raw', unit: '×', target: { atMost: 1.1 }, ...over(raw) },
    { ...figure, name: 'overhead, Holdfast / raw on one queue', unit: '×', ...over(rawOnOneQueue) },
  ];
}

async function rawSteps(stack: BenchStack, workTaskQueue: string): Promise<RawSteps> {
  const turn = await runRawTurn(stack, STEPS, workTaskQueue);
  const body = median(turn.bodies);
  return { body, overhead: median(turn.steps.map((step, index) => step - (turn.bodies[index] ?? body))) };
}
