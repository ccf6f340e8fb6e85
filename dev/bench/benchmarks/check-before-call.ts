import { readFit } from '../../../src/activities/compaction/plan-compaction.ts';
import type { TurnReference } from '../../../src/turn/turn-reference.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Figure } from '../figures.ts';
import { exactly, median, ratios, summarize } from '../statistics.ts';
import { countReads } from './count-reads.ts';

/** Of each conversation per round, in turn. */
const CHECKS = 200;

/** What `compactContext` does when nothing is to do, in a short and in a long conversation that both fit. */
export async function measureCheck(
  stack: BenchStack,
  { small, large, rounds }: { readonly small: TurnReference; readonly large: TurnReference; readonly rounds: number },
): Promise<Figure[]> {
  await widenWindows(stack, [small, large]);
  const reads = await countReads(stack.connections.databaseUrl);
  const check = async (turn: TurnReference): Promise<void> => {
    const { counted } = await readFit(reads.database, turn);
    if (counted.isDue) throw new TypeError('nothing is to be compacted');
  };
  try {
    const smallTimes: number[] = [];
    const largeTimes: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const samples: [number[], number[]] = [[], []];
      for (let count = 0; count < CHECKS; count += 1) {
        samples[0].push(await timed(async () => check(small)));
        samples[1].push(await timed(async () => check(large)));
      }
      // The first round warms up.
      if (round === 0) continue;
      smallTimes.push(median(samples[0]));
      largeTimes.push(median(samples[1]));
    }
    const smallReads = await reads.during(async () => check(small));
    const largeReads = await reads.during(async () => check(large));
    const figure = { benchmark: 'planning', unit: 'ms' } as const;
    const ratio = { benchmark: 'planning', unit: '×', target: { atMost: 1.2 } } as const;
    return [
      { ...figure, name: 'check that finds nothing to do, 500 entries', ...summarize(smallTimes) },
      { ...figure, name: 'check that finds nothing to do, 50,000 entries', ...summarize(largeTimes) },
      { ...ratio, name: 'check, time, 50,000 / 500', ...ratios(largeTimes, smallTimes) },
      { ...ratio, name: 'check, bytes read, 50,000 / 500', ...exactly(largeReads.bytes / smallReads.bytes) },
      { ...ratio, name: 'check, queries', unit: 'queries', target: { atMost: 1 }, ...exactly(largeReads.queries) },
    ];
  } finally {
    await reads.database.end();
  }
}

async function widenWindows({ database }: BenchStack, turns: readonly TurnReference[]): Promise<void> {
  await database.begin(async (open) => {
    await open`set local role none`;
    await open`set local session_replication_role = replica`;
    await open`
      update turns set model_limits = '{"window": 100000000, "maximumOutput": 1000}'
      where id = any(${turns.map((turn) => turn.turnId)}::uuid[])`;
  });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
