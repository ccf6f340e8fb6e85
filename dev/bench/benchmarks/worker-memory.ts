import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { runTurn } from '../measured-turn.ts';
import { exactly } from '../statistics.ts';
import type { BenchWorker } from '../workers/worker-process.ts';

const STEPS = 3;
const TURNS = 40;
const AT_ONCE = 10;
const MEBIBYTE = 1024 ** 2;

/** What a worker holds after its first turn and after many, each time after a collection. */
export async function measureWorkerMemory(stack: BenchStack, worker: BenchWorker): Promise<Figure[]> {
  await runTurn(stack, STEPS);
  const first = await worker.memory();
  for (let turns = 0; turns < TURNS; turns += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => runTurn(stack, STEPS)));
  }
  const last = await worker.memory();
  const figure = (name: string, bytes: number): Figure => ({
    benchmark: 'worker-memory',
    name,
    unit: 'MiB',
    ...exactly(bytes / MEBIBYTE),
  });
  return [
    figure('resident, after the first turn', first.residentBytes),
    figure(`resident, after ${TURNS} more`, last.residentBytes),
    figure('heap, after the first turn', first.heapBytes),
    figure(`heap, after ${TURNS} more`, last.heapBytes),
  ];
}
