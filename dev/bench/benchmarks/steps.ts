import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { runRawTurn, runTurn } from '../measured-turn.ts';
import { median, summarize } from '../statistics.ts';

const STEPS = 30;

/**
 * Overhead of a step above its bodies, Holdfast's over the raw workflow's. The bodies are timed in the raw
 * workflow and taken off both, so what Holdfast adds around the HTTP call counts against it. Medians within
 * a turn, since one hiccup of the machine is no property of either; a ratio for each pair of turns, which follow each other.
 */
export async function measureSteps(stack: BenchStack, { rounds }: BenchOptions): Promise<Figure[]> {
  const holdfast: number[] = [];
  const raw: number[] = [];
  const bodies: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // A B, B A, …: what warms up or wears off on the way meets both.
    const turns = round % 2 === 0 ? [true, false] : [false, true];
    for (const isRaw of turns) {
      if (isRaw) {
        const turn = await runRawTurn(stack, STEPS);
        const body = median(turn.bodies);
        bodies.push(body);
        raw.push(median(turn.steps.map((step, index) => step - (turn.bodies[index] ?? body))));
      } else holdfast.push(median((await runTurn(stack, STEPS)).steps));
    }
  }
  const overheads = holdfast.map((step, round) => step - (bodies[round] ?? 0));
  const figure = { benchmark: 'steps', unit: 'ms' } as const;
  return [
    { ...figure, name: 'bodies of a step', ...summarize(bodies) },
    { ...figure, name: 'overhead, raw workflow', ...summarize(raw) },
    { ...figure, name: 'overhead, Holdfast', ...summarize(overheads) },
    {
      ...figure,
      name: 'overhead, Holdfast / raw',
      unit: '×',
      target: { atMost: 1.1 },
      ...summarize(overheads.map((overhead, round) => overhead / (raw[round] ?? 1))),
    },
  ];
}
