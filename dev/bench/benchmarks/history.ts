import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { runRawTurn, runTurn } from '../measured-turn.ts';
import type { MeasuredTurn } from '../measured-turn.ts';
import { exactly } from '../statistics.ts';

const FEW = 5;
const MANY = 35;

/** What a step adds to Temporal's history: the difference of a longer and a shorter turn, so begin and end are not in it. */
export async function measureHistory(stack: BenchStack): Promise<Figure[]> {
  const holdfast = await perStep((steps) => runTurn(stack, steps));
  const raw = await perStep((steps) => runRawTurn(stack, steps));
  return [
    {
      benchmark: 'history',
      name: 'bytes of a step',
      unit: 'bytes',
      target: { atMost: 3_000 },
      ...exactly(holdfast.bytes),
    },
    { benchmark: 'history', name: 'bytes of a step, raw workflow', unit: 'bytes', ...exactly(raw.bytes) },
    { benchmark: 'history', name: 'events of a step', unit: 'events', ...exactly(holdfast.events) },
    { benchmark: 'history', name: 'events of a step, raw workflow', unit: 'events', ...exactly(raw.events) },
  ];
}

async function perStep(
  run: (steps: number) => Promise<MeasuredTurn>,
): Promise<{ readonly bytes: number; readonly events: number }> {
  const few = await run(FEW);
  const many = await run(MANY);
  return {
    bytes: (many.historyBytes - few.historyBytes) / (MANY - FEW),
    events: (many.historyEvents - few.historyEvents) / (MANY - FEW),
  };
}
